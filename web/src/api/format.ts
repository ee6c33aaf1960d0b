import { answer, server } from './call'

/** format lays a text out as the tools' own fmt does; the server does it, and says where what is no HCL or JSON goes wrong. */
export async function format(language: 'hcl' | 'json', text: string): Promise<string> {
  return (await answer(server.POST('/api/v1/format', { body: { language, text } }))).text
}
