import { structuredPatch } from 'diff'
import { isMasked, type Difference } from '@/lib/differences'
import styles from './AttributeChanges.module.css'

/** pathText is a path as people write it: tags.Name, ingress[0].port, or ["a b"] where a name is no word. */
export function pathText(path: (string | number)[]): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${String(part)}]`
      if (!/^[A-Za-z_][\w-]*$/.test(part)) return `[${JSON.stringify(part)}]`
      return index === 0 ? part : `.${part}`
    })
    .join('')
}

/** valueText is a value as JSON, laid out where it has more than one line. */
export function valueText(value: unknown): string {
  if (value === undefined) return ''
  const short = JSON.stringify(value)
  return short.length > 80 && typeof value === 'object' ? JSON.stringify(value, null, 2) : short
}

/**
 * AttributeChanges shows attributes that changed, each with its path, what it was and what it is. Where two
 * strings hold JSON, what differs inside is shown instead. An object that came or went whole is shown
 * attribute by attribute.
 */
export function AttributeChanges({ changes, plain = false }: { changes: Difference[]; plain?: boolean }) {
  return (
    <table className={styles.changes} aria-label={plain ? 'Attributes' : 'Attributes that changed'}>
      <thead className="visually-hidden">
        <tr>
          <th scope="col">Attribute</th>
          {plain ? null : <th scope="col">Before</th>}
          <th scope="col">{plain ? 'Value' : 'After'}</th>
        </tr>
      </thead>
      <tbody>
        {changes.flatMap(spread).map((change) => (isLong(change) && !plain ? <Lines key={pathText(change.path)} path={change.path} before={change.before} after={change.after} /> : (
          <tr key={pathText(change.path)}>
            <th scope="row">
              <code>{pathText(change.path)}</code>
            </th>
            {plain ? null : <td>{change.before === undefined ? <span className="muted">–</span> : <Value value={change.before} kind="before" sensitive={change.sensitive} />}</td>}
            <td>{change.unknown ? <span className="muted">known after apply</span> : change.after === undefined ? <span className="muted">–</span> : <Value value={change.after} kind={plain ? 'plain' : 'after'} sensitive={change.sensitive} />}</td>
          </tr>
        )))}
      </tbody>
    </table>
  )
}

/** isLong says that two texts of several lines are better compared line by line. */
function isLong(change: Difference): change is Difference & { before: string; after: string } {
  return typeof change.before === 'string' && typeof change.after === 'string' && !change.sensitive && (change.before.includes('\n') || change.after.includes('\n'))
}

/** Lines is a text of several lines, with what went and what came, and three lines around. */
function Lines({ path, before, after }: { path: (string | number)[]; before: string; after: string }) {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 3 })
  return (
    <tr>
      <th scope="row">
        <code>{pathText(path)}</code>
      </th>
      <td colSpan={2}>
        <pre className={styles.lines}>
          {hunks.flatMap(({ lines }, hunk) => [
            ...(hunk > 0 ? [<span key={`gap ${String(hunk)}`} className="muted">{'⋯\n'}</span>] : []),
            ...lines.filter((line) => !line.startsWith('\\')).map((line, index) => (
              <span key={`${String(hunk)} ${String(index)}`} className={line.startsWith('-') ? styles.before : line.startsWith('+') ? styles.after : undefined}>{`${line}\n`}</span>
            )),
          ])}
        </pre>
      </td>
    </tr>
  )
}

function Value({ value, kind, sensitive }: { value: unknown; kind: 'before' | 'after' | 'plain'; sensitive: boolean | undefined }) {
  if (sensitive || isMasked(value)) return <span className="muted" title="A sensitive value, which is not shown">● sensitive</span>
  return (
    <pre className={styles[kind]}>
      {kind === 'plain' ? null : <span className="visually-hidden">{kind === 'before' ? 'was ' : 'is '}</span>}
      {valueText(value)}
    </pre>
  )
}

/** spread takes a change apart: JSON inside of strings, and objects that came or went as a whole. */
export function spread(change: Difference): Difference[] {
  if (change.inside && change.inside.length > 0) {
    return change.inside.map((inner) => ({ ...inner, path: [...change.path, ...inner.path] }))
  }
  const whole = change.after ?? change.before
  if (change.path.length > 0 || change.sensitive || !isObject(whole)) return [change]
  return Object.keys(whole)
    .sort()
    .map((name) => ({
      path: [name],
      ...(isObject(change.before) && change.before[name] !== undefined ? { before: change.before[name] } : {}),
      ...(isObject(change.after) && change.after[name] !== undefined ? { after: change.after[name] } : {}),
    }))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
