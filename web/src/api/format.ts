import { post } from './call'

/** format lays a file out as the tools do; the server does it, and refuses what is no HCL with the place. */
export async function format(path: string, content: string): Promise<string> {
  return (await post<{ content: string }>('/api/v1/format', { path, content })).content
}
