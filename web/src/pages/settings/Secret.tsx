import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Dialog } from '@/ui/Dialog'
import styles from './Settings.module.css'

/** Secret shows the text of a key or a token, which nobody can see again. */
export function Secret({ title, text, what, children, onClose }: { title: string; text: string; what: string; children?: React.ReactNode; onClose: () => void }) {
  return (
    <Dialog title={title} open onClose={onClose}>
      <div className={styles.dialog}>
        <p><strong>Copy it now: it is shown this once.</strong> Whoever has it may do all that it may.</p>
        <p className={styles.secret}><Copyable value={text} label={what} /></p>
        {children}
        <div className={styles.buttons}>
          <Button kind="main" onClick={onClose}>I have it</Button>
        </div>
      </div>
    </Dialog>
  )
}
