import { useEffect } from 'react'
import { Skeleton } from '@/ui/states'
import { addressAfter } from './after'

/** GoOn goes to where somebody was going before they signed in. */
export function GoOn() {
  useEffect(() => {
    window.location.replace(addressAfter(window.location.pathname, window.location.search))
  }, [])
  return <Skeleton what="the page" />
}
