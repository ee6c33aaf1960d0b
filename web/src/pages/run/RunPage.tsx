import { Page } from '@/ui/Page'

export function RunPage() {
  return (
    <Page title="Run" name="Run">
      <p />
    </Page>
  )
}
