import { useNavigate } from '@tanstack/react-router'
import { useMay } from '@/api/session'
import { Page } from '@/ui/Page'
import { Tabs, type Tab } from '@/ui/Tabs'
import { Kept } from './Kept'
import { Keys } from './Keys'
import { Organization } from './Organization'
import { Policies } from './Policies'
import { Pools } from './Pools'
import { settingsRoute } from './route'
import { Sessions } from './Sessions'

/** SettingsPage is what belongs to the organization as a whole: who may come in, what executes runs, how much there may be. */
export function SettingsPage() {
  const { tab = 'organization' } = settingsRoute.useSearch()
  const navigate = useNavigate({ from: settingsRoute.fullPath })
  const may = useMay()
  const tabs: Tab[] = [
    { id: 'organization', label: 'Organization', content: () => <Organization /> },
    ...(may('state:metadata') ? [{ id: 'kept', label: 'How states are kept', content: () => <Kept mayChange={may('organization:manage')} /> }] : []),
    ...(may('key:manage') || may('key:read') ? [{ id: 'keys', label: 'Keys', content: () => <Keys mayChange={may('key:manage')} /> }] : []),
    ...(may('agent:manage') || may('run:read') ? [{ id: 'pools', label: 'Agents and pools', content: () => <Pools mayChange={may('agent:manage')} /> }] : []),
    ...(may('policy:manage') || may('run:read') ? [{ id: 'policies', label: 'Policies', content: () => <Policies mayChange={may('policy:manage')} /> }] : []),
    { id: 'sessions', label: 'Your sessions', content: () => <Sessions /> },
  ]
  return (
    <Page title="Settings" name="Settings" line="Who may come in, what executes runs, how states are kept, and how much there may be">
      <Tabs label="Settings" tabs={tabs} value={tabs.some(({ id }) => id === tab) ? tab : 'organization'} onChange={(next) => void navigate({ search: { tab: next }, replace: true })} />
    </Page>
  )
}
