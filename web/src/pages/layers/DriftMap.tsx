import { Link } from '@tanstack/react-router'
import { count } from '@/lib/size'
import { Some } from '@/ui/Some'
import styles from './layers.module.css'
import { watches, type Region } from './watch'

/** DriftMap is a line for each folder: how much of it has drifted, how much is as planned, and how much nobody looks at. Each part leads to what it counts. */
export function DriftMap({ regions }: { regions: Region[] }) {
  return (
    <>
      <Some label="Drift by folder" className={styles.map} items={regions} itemKey={({ folder }) => folder}>
        {(region) => <RegionLine region={region} />}
      </Some>
      <dl className={styles.legend}>
        {watches.map(({ id, label, means, tone }) => (
          <div key={id}>
            <dt><span aria-hidden="true" className={`${styles.swatch!} ${styles[tone]!} ${styles[id] ?? ''}`} /> {label}</dt>
            <dd className="muted">{means}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function RegionLine({ region: { folder, counts, all, drifted } }: { region: Region }) {
  const name = folder === '' ? 'without a folder' : folder
  return (
    <div role="group" aria-label={`${name}: ${count(all, 'workspace')}`} className={styles.region}>
      <div className={styles.folder} title={name}>
        {name} <span className="muted">{all.toLocaleString()}</span>
      </div>
      <div>
        <div className={styles.bar}>
          {watches
            .filter(({ id }) => counts[id] > 0)
            .map(({ id, label, tone }) => (
              <span key={id} className={`${styles.part!} ${styles[tone]!} ${styles[id] ?? ''}`} style={{ flexGrow: counts[id] }}>
                {id === 'none' ? (
                  <Link to="/files">{label} {counts[id].toLocaleString()}</Link>
                ) : (
                  <Link to="/layers" search={{ q: folder, watch: id }}>{label} {counts[id].toLocaleString()}</Link>
                )}
              </span>
            ))}
        </div>
        {drifted.length > 0 ? (
          <Some label={`Drifted in ${name}`} className={styles.drifted} items={drifted} itemKey={({ name }) => name}>
            {(spot) =>
              spot.drifted === undefined ? (
                <Link to="/states/$" params={{ _splat: spot.name }} search={{ tab: 'runs' }}>● {spot.name}</Link>
              ) : (
                <Link to="/layers/$" params={{ _splat: spot.name }} search={{ tab: 'drift' }}>● {spot.name} <span className="muted">{spot.drifted}</span></Link>
              )
            }
          </Some>
        ) : null}
      </div>
    </div>
  )
}
