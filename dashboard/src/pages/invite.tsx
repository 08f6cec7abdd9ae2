/**
 * Accepts an invitation. Its token stands behind `#`: browsers do not send that part, so no log contains it. The page
 * moves it from the address to the state of this entry in the history of the tab. The list of visited addresses does not
 * contain it, and a reload keeps it. When the account exists, the next page replaces the entry and its state.
 */
import { useEffect, useState } from 'preact/hooks';
import type { InvitationSummary, SessionInfo } from '../../../src/control/http/contract.ts';
import { type ApiError, asApiError, post } from '../api.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { ErrorNote, ErrorPanel } from '../components/error.tsx';
import { TextField } from '../components/field.tsx';
import { Relative } from '../components/instant.tsx';
import { SignedOutLayout } from '../components/layout.tsx';
import { Logo } from '../components/logo.tsx';
import { NewPassword } from '../components/password-field.tsx';
import { TableSkeleton } from '../components/skeleton.tsx';
import type { FieldErrors } from '../model/field-errors.ts';
import { countCharacters, PASSWORD_CHARACTERS_MIN } from '../password.ts';
import { hrefTo, navigate } from '../router.ts';
import { ROLE_LABELS, session } from '../session.ts';
import { useForm } from '../use-form.ts';

function takeToken(): string {
  const given = location.hash.slice(1);
  if (given !== '') history.replaceState(given, '', hrefTo('invite'));
  const kept: unknown = history.state;
  return typeof kept === 'string' ? kept : '';
}

const NAME = /^[\w.@+-]{1,64}$/;
const NAME_RULE = 'Use an e-mail address, or letters, digits and . _ @ + - without spaces.';

export function InvitePage() {
  const [token] = useState(takeToken);
  const [invitation, setInvitation] = useState<InvitationSummary | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
  // A whole link that is pasted here changes only the part after the #, which does not load the page.
  useEffect(() => {
    addEventListener('hashchange', reload);
    return () => removeEventListener('hashchange', reload);
  }, []);
  useEffect(() => {
    document.title = 'Invitation · Sched';
    if (token === '') return;
    post<InvitationSummary>('invitation/lookup', { token }).then(setInvitation, (cause) =>
      setFault(asApiError(cause)),
    );
  }, [token]);
  return (
    <SignedOutLayout>
      <div class="card p-6 shadow-sm">
        <div class="mb-4 flex items-center gap-2.5">
          <Logo />
          <h1 class="text-lg font-semibold">Welcome to Sched</h1>
        </div>
        {token === '' ? (
          <NoToken />
        ) : fault !== null ? (
          <ErrorPanel error={fault} />
        ) : invitation === null ? (
          <TableSkeleton />
        ) : (
          <Accept token={token} invitation={invitation} />
        )}
      </div>
    </SignedOutLayout>
  );
}

const reload = () => location.reload();

function NoToken() {
  return (
    <div class="space-y-4">
      <p>The link is incomplete: the part after the # is missing. Open the whole link.</p>
      <ButtonLink href={hrefTo('login')}>Sign in</ButtonLink>
    </div>
  );
}

function Accept({ token, invitation }: { readonly token: string; readonly invitation: InvitationSummary }) {
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    { name: '', password: '' },
    async ({ name, password }) => {
      session.value = await post<SessionInfo>('invitation', { token, name: name.trim(), password });
      navigate(hrefTo(''), { replace: true });
    },
    Object.keys,
    // The service decides. This saves a round trip.
    ({ name }): FieldErrors => (NAME.test(name.trim()) ? {} : { name: NAME_RULE }),
  );
  const { name, password } = form;
  return (
    <form ref={element} onSubmit={submit} class="space-y-4">
      <p class="text-dim">
        Your role will be “{ROLE_LABELS[invitation.role]}”. The invitation expires{' '}
        <Relative at={invitation.expires_at} />.
      </p>
      <TextField
        label="Name"
        name="username"
        value={name}
        onValue={(text) => change({ ...form, name: text })}
        autocomplete="username"
        required
        autoFocus
        hint={`You sign in with it. ${NAME_RULE}`}
        error={errors.name}
      />
      <NewPassword
        label="Password"
        name={name}
        value={password}
        onValue={(text) => change({ ...form, password: text })}
        error={errors.password}
      />
      {error === null ? null : <ErrorNote error={error} />}
      <div class="grid">
        <Button
          type="submit"
          kind="primary"
          isBusy={isBusy}
          disabled={countCharacters(password) < PASSWORD_CHARACTERS_MIN || name.trim() === ''}
        >
          Create account
        </Button>
      </div>
    </form>
  );
}
