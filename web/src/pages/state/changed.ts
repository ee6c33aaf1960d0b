import { useQueryClient } from '@tanstack/react-query'

/** useChanged has what is known of a state read again, after it was changed. */
export function useChanged(name: string): () => Promise<unknown> {
  const client = useQueryClient()
  return () => Promise.all([client.invalidateQueries({ queryKey: ['state', name] }), client.invalidateQueries({ queryKey: ['states'] })])
}
