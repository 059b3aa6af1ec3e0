import type { JSX } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { Rail } from './rail.tsx';
import { InboxScreen } from './screens/inbox-screen.tsx';
import { SessionsScreen } from './screens/sessions-screen.tsx';
import { Shortcuts } from './screens/shortcuts.tsx';
import { online } from './state/connection.ts';
import { route } from './state/route.ts';
import { EmptyState, Failure, Loading } from './ui/empty-state.tsx';
import { Toasts } from './ui/toast.tsx';

const SessionScreen = lazy(
  async () => (await import('./session/session-screen.tsx')).SessionScreen,
);
const FileScreen = lazy(async () => (await import('./journal-file/file-screen.tsx')).FileScreen);
const AgentsScreen = lazy(async () => (await import('./screens/agents-screen.tsx')).AgentsScreen);
const CompareScreen = lazy(
  async () => (await import('./compare/compare-screen.tsx')).CompareScreen,
);
const ProofsScreen = lazy(async () => (await import('./proofs/proofs-screen.tsx')).ProofsScreen);
const TracesScreen = lazy(async () => (await import('./traces/traces-screen.tsx')).TracesScreen);
const SchedulesScreen = lazy(
  async () => (await import('./schedules/schedules-screen.tsx')).SchedulesScreen,
);
const UsageScreen = lazy(async () => (await import('./usage/usage-screen.tsx')).UsageScreen);
const QuotasScreen = lazy(async () => (await import('./quotas/quotas-screen.tsx')).QuotasScreen);
const SettingsScreen = lazy(
  async () => (await import('./screens/settings-screen.tsx')).SettingsScreen,
);

/** The whole page. */
export function App(): JSX.Element {
  const [screen = 'sessions'] = route.value.segments;
  useEffect(() => {
    document.title = `${screen === 's' ? 'Session' : capitalize(screen)} · Petrichor`;
  }, [screen]);
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Rail />
      <main id="main" tabIndex={-1}>
        {!online.value && (
          <p class="banner banner-wait" role="status">
            <span class="spinner" aria-hidden="true" /> Reconnecting. What you see stays; what
            happens meanwhile is shown when the server answers.
          </p>
        )}
        <Suspense fallback={<Loading />}>
          <Boundary key={route.value.segments.join('/')}>
            <Screen />
          </Boundary>
        </Suspense>
      </main>
      <Shortcuts />
      <Toasts />
    </div>
  );
}

function Screen(): JSX.Element {
  const [screen, id] = route.value.segments;
  switch (screen) {
    case undefined:
    case 'sessions':
      return <SessionsScreen />;
    case 's':
      return <SessionScreen key={id} id={id ?? ''} />;
    case 'file':
      return <FileScreen />;
    case 'inbox':
      return <InboxScreen />;
    case 'schedules':
      return <SchedulesScreen />;
    case 'agents':
      return <AgentsScreen />;
    case 'compare':
      return <CompareScreen />;
    case 'proofs':
      return <ProofsScreen />;
    case 'traces':
      return <TracesScreen />;
    case 'usage':
      return <UsageScreen />;
    case 'quotas':
      return <QuotasScreen />;
    case 'settings':
      return <SettingsScreen />;
    default:
      return (
        <EmptyState icon="search" title="No such screen" isScreen>
          <p>
            Nothing is at <code>{screen}</code>. Choose a screen on the left.
          </p>
        </EmptyState>
      );
  }
}

/** A screen that fails takes no other screen with it. */
function Boundary({ children }: { readonly children: JSX.Element }): JSX.Element {
  const [error] = useErrorBoundary();
  if (error === undefined) return children;
  return <Failure error={error instanceof Error ? error : new Error(String(error))} isScreen />;
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
