import type { Json } from '@/api/types'

/** Held is an object that a state holds. */
export interface Held {
  address: string
  type: string
  mode: string
  module: string
  provider: string
  id: string
  attributes: Json
}

type Members = { [name: string]: Json }

function members(value: Json | undefined): Members {
  return value !== null && value !== undefined && typeof value === 'object' && !Array.isArray(value) ? value : {}
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** heldIn lists what a state of version 4 holds, in its order. */
export function heldIn(content: Json): Held[] {
  return list(members(content).resources).flatMap((entry) => {
    const resource = members(entry)
    const module = text(resource.module)
    const base = `${module === '' ? '' : `${module}.`}${resource.mode === 'data' ? 'data.' : ''}${text(resource.type)}.${text(resource.name)}`
    return list(resource.instances).map((one) => {
      const instance = members(one)
      const key = instance.index_key
      const attributes = members(instance.attributes)
      return {
        address: key === undefined ? base : `${base}[${JSON.stringify(key)}]`,
        type: text(resource.type),
        mode: text(resource.mode),
        module,
        provider: /\["(.+?)"\]/.exec(text(resource.provider))?.[1] ?? text(resource.provider),
        id: text(attributes.id) || text(attributes.name),
        attributes,
      }
    })
  })
}
