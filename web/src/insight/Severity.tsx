import styles from './insight.module.css'

const looks: Readonly<Record<string, [shape: string, tone: string | undefined]>> = {
  critical: ['◆', styles.critical],
  high: ['▲', styles.high],
  medium: ['●', styles.medium],
  low: ['○', styles.low],
}

/** Severity is how grave something is, in a word with a shape and a colour; with a count, how many are. */
export function Severity({ severity, count }: { severity: string; count?: number }) {
  const [shape, tone] = looks[severity] ?? ['○', styles.low]
  return (
    <span className={`${styles.severity!} ${tone!}`}>
      <span aria-hidden="true">{shape}</span>
      {count === undefined ? severity : `${count.toLocaleString()} ${severity}`}
    </span>
  )
}
