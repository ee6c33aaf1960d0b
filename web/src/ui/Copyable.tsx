import styles from './Copyable.module.css'
import { useCopy } from './useCopy'

interface Props {
  /** The whole value, which is what is copied. */
  value: string
  /** What is shown of it, where it is long. */
  short?: string
  /** What it is, for a screen reader: "version digest". */
  label: string
}

/** Copyable shows a value in a monospaced face with a button that copies the whole of it. */
export function Copyable({ value, short, label }: Props) {
  const { said, copy } = useCopy()
  return (
    <span className={styles.copyable}>
      <code title={value}>{short ?? value}</code>
      <button type="button" className={styles.button} onClick={() => void copy(value)} aria-label={`Copy ${label}`}>
        {said === '' ? 'copy' : said}
      </button>
      <span role="status" className="visually-hidden">{said}</span>
    </span>
  )
}
