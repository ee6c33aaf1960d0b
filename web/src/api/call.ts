import { failureOf, unreachable } from './failure'

type Query = Record<string, string | number | boolean | undefined>

/** address joins a path and a query; members that are undefined are left out. */
export function address(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const text = new URLSearchParams(pairs).toString()
  return text === '' ? path : `${path}?${text}`
}

/** send asks the server, with bytes as they are and any other body as JSON; what is refused is thrown. */
export async function send(method: string, target: string, body: unknown, { signal, headers }: { signal?: AbortSignal | undefined; headers?: Record<string, string> } = {}): Promise<Response> {
  const init: RequestInit = { method, credentials: 'same-origin', headers: { Accept: 'application/json', ...headers } }
  if (signal) init.signal = signal
  if (body instanceof Uint8Array) {
    init.headers = { ...init.headers, 'Content-Type': 'application/octet-stream' }
    init.body = body as Uint8Array<ArrayBuffer>
  } else if (body !== undefined) {
    init.headers = { ...init.headers, 'Content-Type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  let response: Response
  try {
    response = await fetch(target, init)
  } catch (error) {
    if (signal?.aborted) throw error
    throw unreachable()
  }
  if (!response.ok) throw await failureOf(response)
  return response
}

/** get reads JSON. */
export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await (await send('GET', address(path, query), undefined, { signal })).json()) as T
}

/** post asks for a change. */
export async function post<T>(path: string, body: unknown = {}, query?: Query): Promise<T> {
  return (await (await send('POST', address(path, query), body)).json()) as T
}

/** remove asks for something to be taken away. */
export async function remove<T>(path: string, query?: Query): Promise<T> {
  const response = await send('DELETE', address(path, query), undefined)
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

/** statePath is the address of what belongs to a state. The name is one segment: some names read like what belongs to a state. */
export function statePath(name: string, rest = ''): string {
  const path = `/api/v1/state/${encodeURIComponent(name)}`
  return rest === '' ? path : `${path}/-/${rest}`
}
