/** The page to sign in. It leads to the page that was asked for. */
import { useEffect, useState } from 'preact/hooks';
import type { SessionInfo, WhoAmI } from '../../../src/control/http/contract.ts';
import { get, post } from '../api.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { ErrorNote } from '../components/error.tsx';
import { TextField } from '../components/field.tsx';
import { SignedOutLayout } from '../components/layout.tsx';
import { Logo } from '../components/logo.tsx';
import { BASE, navigate, path, query } from '../router.ts';
import { pageAfterSignIn, session } from '../session.ts';
import { useRequest } from '../use-request.ts';

export function LoginPage() {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [isLocal, setLocal] = useState(false);
  const request = useRequest(async () => {
    const entered = await post<SessionInfo>('login', { name, password });
    // The address names the wanted page only until the session is set.
    const wanted = path.peek() === 'login' ? pageAfterSignIn() : null;
    session.value = entered;
    if (wanted !== null) navigate(wanted, { replace: true });
  });
  useEffect(() => {
    document.title = 'Sign in · Sched';
    get<WhoAmI>('whoami').then(
      (who) => setLocal(who !== null && 'local_session' in who),
      () => {},
    );
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!(await request.run())) setPassword('');
  };
  return (
    <SignedOutLayout>
      <div class="card p-6 shadow-sm">
        <div class="mb-4 flex items-center gap-2.5">
          <Logo />
          <h1 class="text-lg font-semibold">Sign in to Sched</h1>
        </div>
        {query.value.has('to') ? (
          <p class="mb-4 text-dim">Your session has ended. Sign in to go back to your page.</p>
        ) : null}
        <form class="space-y-4" onSubmit={(event) => void submit(event)}>
          <TextField
            label="Name"
            name="username"
            value={name}
            onValue={setName}
            autocomplete="username"
            required
            autoFocus
          />
          <TextField
            label="Password"
            name="password"
            type="password"
            value={password}
            onValue={setPassword}
            autocomplete="current-password"
            required
          />
          {request.error === null ? null : <ErrorNote error={request.error} />}
          <div class="grid">
            <Button type="submit" kind="primary" isBusy={request.isBusy}>
              Sign in
            </Button>
          </div>
        </form>
      </div>
      {isLocal ? (
        <div class="mt-4 grid text-center">
          <ButtonLink href={BASE}>Open without a password, as sched dev</ButtonLink>
        </div>
      ) : (
        <p class="mt-4 px-2 text-center text-sm text-dim">
          No account? Ask an admin for an invitation. The first start of the service prints one, and{' '}
          <code class="font-mono whitespace-nowrap">sched user create</code> creates another.
        </p>
      )}
    </SignedOutLayout>
  );
}
