import { useNavigate } from '@tanstack/react-router'
import { useMay } from '@/api/session'
import { useShortcuts } from '@/ui/keys'
import { places, type Place } from './navigation'

/** usePlaces are the pages that who is signed in may open. */
export function usePlaces(): Place[] {
  const may = useMay()
  return places.filter(({ right }) => right === undefined || may(right))
}

/** useGoKeys has "g" and a page's key open it. */
export function useGoKeys(): void {
  const navigate = useNavigate()
  useShortcuts(
    usePlaces().map(({ to, label, key }) => ({
      keys: `g ${key}`,
      does: `Go to ${label}`,
      run: () => void navigate({ to }),
    })),
  )
}
