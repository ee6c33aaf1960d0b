import '@/ui/tokens.css'
import '@/ui/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { newQueryClient } from '@/api/client'
import { outdated } from '@/app/outdated'
import { newRouter } from '@/app/router'
import { applyTheme, chosenTheme } from '@/app/theme'

applyTheme(chosenTheme())
outdated.listen(window)
const client = newQueryClient()

createRoot(document.getElementById('page')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={newRouter(client)} />
    </QueryClientProvider>
  </StrictMode>,
)
