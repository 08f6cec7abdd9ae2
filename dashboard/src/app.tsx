/** Chooses the page by the session and by the address. */
import { useEffect } from 'preact/hooks';
import type { ApiError } from './api.ts';
import { ButtonLink } from './components/button.tsx';
import { ErrorPanel } from './components/error.tsx';
import { Layout, SignedOutLayout } from './components/layout.tsx';
import { Page } from './components/page.tsx';
import { ShortcutHelp } from './components/shortcut-help.tsx';
import { Toasts } from './components/toast.tsx';
import { InvitePage } from './pages/invite.tsx';
import { LoginPage } from './pages/login.tsx';
import { hrefTo, match, navigate, type Params, path } from './router.ts';
import { type PageRoute, ROUTES } from './routes.ts';
import { hasRole, hrefInProject, rememberScope, scope, scopeOf, session } from './session.ts';

export function App({
  startError,
  onRetry,
}: {
  readonly startError: ApiError | null;
  readonly onRetry: () => void;
}) {
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
          <CurrentPage at={at} />
        </Layout>
      ) : startError === null ? null : (
        <SignedOutLayout>
          <ErrorPanel error={startError} onRetry={onRetry} />
        </SignedOutLayout>
      )}
      <ShortcutHelp />
      <Toasts />
    </>
  );
}

function findRoute(at: string): { readonly route: PageRoute; readonly params: Params } | null {
  for (const route of ROUTES) {
    const params = match(route.pattern, at);
    if (params !== null) return { route, params };
  }
  return null;
}

function CurrentPage({ at }: { readonly at: string }) {
  useEffect(() => {
    scrollTo(0, 0);
    const current = scopeOf(at);
    if (current !== null) rememberScope(current);
    if (at === '' && scope.peek() !== null) navigate(hrefInProject(''), { replace: true });
  }, [at]);
  if (at === '') return scope.value === null ? <NoProject /> : null;
  const here = findRoute(at);
  // With an unknown mode the page would show data of another mode.
  if (here === null || (at.startsWith('p/') && scopeOf(at) === null)) return <NotFound />;
  if (!hasRole(here.route.needs ?? 'viewer')) return <RoleTooLow />;
  const Component = here.route.component;
  return <Component key={at} params={here.params} />;
}

function NotFound() {
  return (
    <Page title="This page does not exist">
      <p class="mb-4 text-dim">The link may be old or incomplete.</p>
      <ButtonLink href={hrefTo('')}>Go to the overview</ButtonLink>
    </Page>
  );
}

function RoleTooLow() {
  return (
    <Page title="This page is for admins">
      <p class="mb-4 text-dim">Your role does not allow it. Ask an admin.</p>
      <ButtonLink href={hrefTo('')}>Go to the overview</ButtonLink>
    </Page>
  );
}

function NoProject() {
  return (
    <Page title="No project yet">
      <p class="text-dim">
        You have access to no project. An admin can create one in the settings or give you access to one.
      </p>
    </Page>
  );
}
