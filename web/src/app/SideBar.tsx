import { Link } from '@tanstack/react-router'
import { usePlaces } from './goKeys'
import styles from './Frame.module.css'

/** SideBar lists the pages. In a narrow window it is shown when it is asked for. */
export function SideBar({ shown, onGo }: { shown: boolean; onGo: () => void }) {
  return (
    <nav className={`${styles.side!} ${shown ? styles.sideShown! : ''}`} aria-label="Pages">
      <ul>
        {usePlaces().map(({ to, label, key }) => (
          <li key={label}>
            <Link to={to} className={styles.place} activeProps={{ className: styles.here!, 'aria-current': 'page' }} activeOptions={{ exact: to === '/' }} onClick={onGo} title={`${label} (g ${key})`}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
