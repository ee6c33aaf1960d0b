import { Page } from '@/ui/Page'

export function RunsPage() {
  return (
    <Page title="Runs" name="Runs">
      <p />
    </Page>
  )
}
