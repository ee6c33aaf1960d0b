import { Page } from '@/ui/Page'

export function StatePage() {
  return (
    <Page title="State" name="State">
      <p />
    </Page>
  )
}
