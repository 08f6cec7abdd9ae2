/** Which page is shown: by who is signed in, and by the address. */
import { useEffect } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { ButtonLink } from './components/button.tsx';
import { ErrorPanel } from './components/error.tsx';
import { Doorway, Layout } from './components/layout.tsx';
import { Page } from './components/page.tsx';
import { ShortcutHelp } from './components/shortcut-help.tsx';
import { Toasts } from './components/toast.tsx';
import { InvitePage } from './pages/invite.tsx';
import { LoginPage } from './pages/login.tsx';
import { match, navigate, type Params, path, to } from './router.ts';
import { type PageRoute, ROUTES } from './routes.ts';
import { may, place, placeOf, rememberPlace, session, toPage } from './session.ts';

export function App({ fault, onRetry }: { readonly fault: ApiError | null; readonly onRetry: () => void }) {
  const who = session.value;
  const at = path.value;
  return (
    <>
      {at === 'invite' ? (
        <InvitePage />
      ) : at === 'login' || who === 'none' ? (
        <LoginPage />
      ) : typeof who !== 'string' ? (
        <Layout who={who}>
          <Current at={at} />
        </Layout>
      ) : fault === null ? null : (
        <Doorway>
          <ErrorPanel error={fault} onRetry={onRetry} />
        </Doorway>
      )}
      <ShortcutHelp />
      <Toasts />
    </>
  );
}

function found(at: string): { readonly route: PageRoute; readonly params: Params } | null {
  for (const route of ROUTES) {
    const params = match(route.pattern, at);
    if (params !== null) return { route, params };
  }
  return null;
}

function Current({ at }: { readonly at: string }) {
  useEffect(() => {
    scrollTo(0, 0);
    const seen = placeOf(at);
    if (seen !== null) rememberPlace(seen);
    if (at === '' && place.peek() !== null) navigate(toPage(''), { replace: true });
  }, [at]);
  if (at === '') return place.value === null ? <NoProject /> : null;
  const here = found(at);
  // A mode that there is not: what is shown would be of another one.
  if (here === null || (at.startsWith('p/') && placeOf(at) === null)) return <Nowhere />;
  if (!may(here.route.needs ?? 'viewer')) return <NotForYou />;
  const Component = here.route.component;
  return <Component key={at} params={here.params} />;
}

function Nowhere() {
  return (
    <Page title="There is no such page">
      <p class="mb-4 text-dim">The link may be old, or cut off.</p>
      <ButtonLink href={to('')}>To the overview</ButtonLink>
    </Page>
  );
}

function NotForYou() {
  return (
    <Page title="Not for your role">
      <p class="mb-4 text-dim">An admin sees this page. Ask one if you need what is on it.</p>
      <ButtonLink href={to('')}>To the overview</ButtonLink>
    </Page>
  );
}

function NoProject() {
  return (
    <Page title="No project yet">
      <p class="text-dim">
        You see no project. An admin can make one under Settings, or let you into one that there is.
      </p>
    </Page>
  );
}
