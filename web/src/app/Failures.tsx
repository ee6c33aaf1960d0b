import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import { Page } from '@/ui/Page'
import { Empty, Failed } from '@/ui/states'

export function NotFound() {
  return (
    <Page title="There is no such page" name="No such page">
      <Empty title="Nothing is at this address.">
        <Link to="/">Go home</Link>, or search with <kbd>/</kbd>.
      </Empty>
    </Page>
  )
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  return <Failed error={error} again={reset} />
}
