import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { outputsQuery } from '@/api/states'
import { valueText } from '@/ui/AttributeChanges'
import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Await, Empty } from '@/ui/states'
import styles from './StatePage.module.css'

/** OutputList shows outputs; those that are sensitive are read behind a click, which the audit log records. */
export function OutputList({ name }: { name: string }) {
  const [all, setAll] = useState(false)
  const query = useQuery(outputsQuery(name, all))
  return (
    <Await query={query} what="outputs">
      {({ outputs }) => {
        const list = Object.entries(outputs).sort(([a], [b]) => (a < b ? -1 : 1))
        if (list.length === 0) return <Empty title="This state has no outputs.">An output block in the configuration makes one, with the next apply.</Empty>
        return (
          <>
            {list.some(([, output]) => output.sensitive) ? (
              <p className={styles.note}>
                {all ? 'Sensitive values are shown. ' : 'Sensitive values are hidden; to show them is recorded in the audit log. '}
                <Button onClick={() => { setAll(!all) }}>{all ? 'Hide' : 'Show sensitive values'}</Button>
              </p>
            ) : null}
            <dl className={styles.outputs}>
              {list.map(([key, output]) => (
                <div key={key}>
                  <dt>
                    <code>{key}</code> {output.sensitive ? <span className="muted">sensitive</span> : null}
                  </dt>
                  <dd>{output.sensitive && !all ? <span className="muted">●●●●●●</span> : <Copyable value={typeof output.value === 'string' ? output.value : valueText(output.value)} label={`output ${key}`} />}</dd>
                </div>
              ))}
            </dl>
          </>
        )
      }}
    </Await>
  )
}
