import type { LinkProps } from '@tanstack/react-router'

/** Place is a page in the frame's list: its name, its key behind g, and the right that it needs. */
export interface Place {
  to: NonNullable<LinkProps['to']>
  label: string
  key: string
  right?: string
}

export const places: Place[] = [
  { to: '/', label: 'Home', key: 'h' },
  { to: '/states', label: 'States', key: 's', right: 'state:metadata' },
  { to: '/runs', label: 'Runs', key: 'r', right: 'run:read' },
  { to: '/layers', label: 'Layers', key: 'l', right: 'workspace:read' },
  { to: '/enclaves', label: 'Enclaves', key: 'n', right: 'workspace:read' },
  { to: '/resources', label: 'Resources', key: 'e', right: 'state:read' },
  { to: '/files', label: 'Files', key: 'f', right: 'workspace:read' },
  { to: '/audit', label: 'Audit', key: 'a', right: 'audit:read' },
  { to: '/settings', label: 'Settings', key: 't' },
]
