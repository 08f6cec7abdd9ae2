/** Who may use the dashboard, and who was asked to. */
import { useState } from 'preact/hooks';
import type {
  Done,
  InvitationInfo,
  Listed,
  NewInvitation,
  UserInfo,
} from '../../../../src/control/http/contract.ts';
import { post } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CopyBlock, TruncatedText } from '../../components/copy.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Instant, Relative } from '../../components/instant.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { session } from '../../session.ts';
import { AccessForm, formatProjects } from './access-form.tsx';
import { SettingsPage } from './settings-page.tsx';

/** What is being done, in a dialog. */
type Action =
  | { readonly kind: 'invite' }
  | { readonly kind: 'invited'; readonly invitation: NewInvitation }
  | { readonly kind: 'change'; readonly user: UserInfo }
  | { readonly kind: 'remove'; readonly user: UserInfo }
  | { readonly kind: 'take-back'; readonly invitation: InvitationInfo };

export function PeoplePage() {
  const users = useLive<Listed<UserInfo>>('users');
  const invitations = useLive<Listed<InvitationInfo>>('invitations');
  const [act, setAct] = useState<Action | null>(null);
  return (
    <SettingsPage
      title="People"
      lead="Viewers look. Operators also change schedules, endpoints and deliveries. Admins do everything."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAct({ kind: 'invite' })}>
          Invite
        </Button>
      }
    >
      <div class="space-y-4">
        <Card title="With an account" isFlush>
          <Loaded live={users} skeleton={<TableSkeleton />}>
            {({ data }) => (
              <Table
                caption="People with an account"
                columns={userColumns(setAct)}
                rows={data}
                rowKey={({ id }) => id}
              />
            )}
          </Loaded>
        </Card>
        <Card title="Invited" isFlush>
          <Loaded live={invitations} skeleton={<TableSkeleton />}>
            {({ data }) =>
              data.length === 0 ? (
                <EmptyState icon="person" title="No open invitations">
                  <p>
                    An invitation is a link that makes one account. Send it where only the right person reads
                    it.
                  </p>
                </EmptyState>
              ) : (
                <Table
                  caption="Open invitations"
                  columns={invitationColumns(setAct)}
                  rows={data}
                  rowKey={({ id }) => id}
                />
              )
            }
          </Loaded>
        </Card>
      </div>
      {act === null ? null : <ActionDialog act={act} onAct={setAct} />}
    </SettingsPage>
  );
}

function isCurrentUser({ id }: UserInfo): boolean {
  const who = session.value;
  return typeof who !== 'string' && who.user.id === id;
}

function userColumns(onAct: (act: Action) => void): readonly Column<UserInfo>[] {
  return [
    {
      heading: 'Name',
      isRowHeading: true,
      cell: (user) => (
        <span class="inline-flex flex-wrap items-center gap-2">
          <TruncatedText text={user.name} />
          {isCurrentUser(user) ? (
            <Badge tone="accent" icon="dot">
              You
            </Badge>
          ) : null}
        </span>
      ),
    },
    { heading: 'Role', cell: ({ role }) => role },
    { heading: 'Projects', cell: ({ projects }) => formatProjects(projects) },
    { heading: 'Since', cell: ({ created_at }) => <Instant at={created_at} style="date" /> },
    {
      heading: 'Last seen',
      cell: ({ seen_at }) =>
        seen_at === null ? <span class="text-dim">not signed in</span> : <Relative at={seen_at} />,
    },
    {
      heading: 'Actions',
      isActions: true,
      cell: (user) => (
        <span class="inline-flex">
          <Button kind="quiet" label={`Change ${user.name}`} onClick={() => onAct({ kind: 'change', user })}>
            Change…
          </Button>
          <Button kind="quiet" label={`Remove ${user.name}`} onClick={() => onAct({ kind: 'remove', user })}>
            Remove…
          </Button>
        </span>
      ),
    },
  ];
}

function invitationColumns(onAct: (act: Action) => void): readonly Column<InvitationInfo>[] {
  return [
    { heading: 'Role', isRowHeading: true, cell: ({ role }) => role },
    { heading: 'Projects', cell: ({ projects }) => formatProjects(projects) },
    { heading: 'By', cell: ({ created_by }) => created_by },
    { heading: 'Made', cell: ({ created_at }) => <Relative at={created_at} /> },
    {
      heading: 'Ends',
      cell: ({ expires_at }) => <Relative at={expires_at} />,
    },
    {
      heading: 'Actions',
      isActions: true,
      cell: (invitation) => (
        <Button
          kind="quiet"
          label={`Take back the invitation of a ${invitation.role}`}
          onClick={() => onAct({ kind: 'take-back', invitation })}
        >
          Take back…
        </Button>
      ),
    },
  ];
}

function ActionDialog({
  act,
  onAct,
}: {
  readonly act: Action;
  readonly onAct: (act: Action | null) => void;
}) {
  const close = () => onAct(null);
  switch (act.kind) {
    case 'invite':
      return (
        <AccessForm
          title="Invite somebody"
          action="Make invitation"
          before={{ role: 'viewer', projects: null }}
          onClose={close}
          onSubmit={async (standing) => {
            const invitation = await post<NewInvitation>('invitations', standing);
            await refreshLive();
            onAct({ kind: 'invited', invitation });
          }}
        />
      );
    case 'invited':
      return <InvitationDialog invitation={act.invitation} onClose={close} />;
    case 'change':
      return (
        <AccessForm
          title={`Change ${act.user.name}`}
          action="Change"
          before={act.user}
          note="Their sessions end; they sign in again with what they may do from now on."
          onClose={close}
          onSubmit={async (standing) => {
            await post<UserInfo>(`users/${encodeURIComponent(act.user.id)}`, standing);
            await refreshLive();
            toast('good', `${act.user.name} is ${standing.role} now.`);
            close();
          }}
        />
      );
    case 'remove':
      return (
        <Confirm
          title={`Remove ${act.user.name}?`}
          action="Remove"
          isDanger
          typed={act.user.name}
          onClose={close}
          onConfirm={async () => {
            await post<Done>(`users/${encodeURIComponent(act.user.id)}/remove`);
            await refreshLive();
            toast('good', `${act.user.name} is removed.`);
          }}
        >
          <p>
            They are signed out at once and cannot come back without a new invitation. What they did stays in
            the audit log.
          </p>
        </Confirm>
      );
    case 'take-back':
      return (
        <Confirm
          title="Take back this invitation?"
          action="Take back"
          isDanger
          onClose={close}
          onConfirm={async () => {
            await post<Done>(`invitations/${encodeURIComponent(act.invitation.id)}/remove`);
            await refreshLive();
            toast('good', 'The invitation is taken back.');
          }}
        >
          <p>Its link makes no account any more.</p>
        </Confirm>
      );
  }
}

function InvitationDialog({
  invitation,
  onClose,
}: {
  readonly invitation: NewInvitation;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="The invitation" onClose={onClose} isKept>
      <div class="space-y-4">
        <p>
          Whoever opens this link makes an account as <strong>{invitation.role}</strong>, once.{' '}
          <strong>It is shown this once</strong>: send it where only the right person reads it.
        </p>
        <CopyBlock text={location.origin + invitation.path} label="Invitation link" />
        <div class="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
