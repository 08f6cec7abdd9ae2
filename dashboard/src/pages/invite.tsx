/**
 * Accepts an invitation. Its token stands behind `#`: browsers do not send that part, so no log contains it. The page
 * removes it from the address at once, so that the history does not contain it either.
 */
import { useEffect, useState } from 'preact/hooks';
import type { InvitationSummary, SessionInfo } from '../../../src/control/http/contract.ts';
import { type ApiError, asApiError, post } from '../api.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { ErrorNote, ErrorPanel } from '../components/error.tsx';
import { TextField } from '../components/field.tsx';
import { Logo } from '../components/header.tsx';
import { Relative } from '../components/instant.tsx';
import { SignedOutLayout } from '../components/layout.tsx';
import { NewPassword } from '../components/password-field.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { countCharacters, PASSWORD_CHARACTERS_MIN } from '../password.ts';
import { hrefTo, navigate } from '../router.ts';
import { ROLE_LABELS, session } from '../session.ts';
import { useForm } from '../use-form.ts';

function takeToken(): string {
  const token = location.hash.slice(1);
  if (token !== '') navigate(hrefTo('invite'), { replace: true });
  return token;
}

export function InvitePage() {
  const [token] = useState(takeToken);
  const [invitation, setInvitation] = useState<InvitationSummary | null>(null);
  const [fault, setFault] = useState<ApiError | null>(null);
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
          <div class="space-y-4" role="status" aria-label="Loading">
            <Skeleton height={36} />
            <Skeleton height={36} />
          </div>
        ) : (
          <Accept token={token} invitation={invitation} />
        )}
      </div>
    </SignedOutLayout>
  );
}

function NoToken() {
  return (
    <div class="space-y-4">
      <p>The link is incomplete: the part after the # is missing. Copy the whole link and open it again.</p>
      <ButtonLink href={hrefTo('login')}>Sign in</ButtonLink>
    </div>
  );
}

function Accept({ token, invitation }: { readonly token: string; readonly invitation: InvitationSummary }) {
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    { name: '', password: '' },
    async (account) => {
      session.value = await post<SessionInfo>('invitation', { token, ...account });
      navigate(hrefTo(''), { replace: true });
    },
    Object.keys,
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
        hint="You sign in with it. Use an e-mail address, or letters, digits and . _ @ + -"
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
