import { Page } from '@/ui/Page'

export function HomePage() {
  return (
    <Page title="Home" name="Home">
      <p className="muted">What needs you, and what changed.</p>
    </Page>
  )
}
