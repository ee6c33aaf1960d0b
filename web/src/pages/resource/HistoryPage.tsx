import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { historyQuery } from '@/api/resources'
import { Button } from '@/ui/Button'
import { Copyable } from '@/ui/Copyable'
import { Page } from '@/ui/Page'
import { Await, Empty } from '@/ui/states'
import { HistoryStep } from './HistoryStep'
import { historyRoute } from './route'

/** HistoryPage is one resource's history: each version in which it changed, attribute by attribute. */
export function HistoryPage() {
  const { state = '', address = '' } = historyRoute.useSearch()
  if (state === '' || address === '') {
    return (
      <Page title="A resource’s history" name="History">
        <Empty title="The address names no resource.">
          <Link to="/resources">Search for one</Link>
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title={<Copyable value={address} label="address" />}
      name={address}
      line={<>Its history in <Link to="/states/$" params={{ _splat: state }}>{state}</Link>, the newest change first</>}
    >
      <History state={state} address={address} />
    </Page>
  )
}

function History({ state, address }: { state: string; address: string }) {
  const history = useInfiniteQuery(historyQuery(state, address))
  const steps = history.data?.pages.flatMap((page) => page.history) ?? []
  const unread = history.data?.pages.flatMap((page) => page.unread) ?? []
  return (
    <Await query={history} what="the versions of the state" rows={8}>
      {() => (
        <>
          <ol aria-label="Versions in which it changed">
            {steps.map((step) => (
              <HistoryStep key={step.version.version} step={step} state={state} />
            ))}
          </ol>
          {steps.length === 0 && !history.hasNextPage ? <Empty title="Nothing of its history can be read." /> : null}
          {unread.length > 0 ? (
            <p className="muted">
              Can’t be looked into: {unread.slice(0, 20).map(({ version, code }) => `version ${String(version)} (${code})`).join(', ')}
              {unread.length > 20 ? ` and ${String(unread.length - 20)} others` : ''}
            </p>
          ) : null}
          {history.hasNextPage ? (
            <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
              {history.isFetchingNextPage ? 'Reading older versions…' : 'Older versions'}
            </Button>
          ) : null}
        </>
      )}
    </Await>
  )
}
