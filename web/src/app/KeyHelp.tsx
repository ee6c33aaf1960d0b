import { useContext } from 'react'
import { Dialog } from '@/ui/Dialog'
import { Shortcuts } from '@/ui/keys'
import styles from './KeyHelp.module.css'

/** KeyHelp lists the keys of what is shown. */
export default function KeyHelp({ onClose }: { onClose: () => void }) {
  const book = useContext(Shortcuts)
  return (
    <Dialog title="Keys of this page" open onClose={onClose}>
      <dl className={styles.keys}>
        {book.all().map(({ keys, does }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
