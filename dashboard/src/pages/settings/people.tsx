/** The users of the dashboard and the open invitations. */
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

/** The dialog that is open. */
type Action =
  | { readonly kind: 'invite' }
  | { readonly kind: 'invited'; readonly invitation: NewInvitation }
  | { readonly kind: 'change'; readonly user: UserInfo }
  | { readonly kind: 'remove'; readonly user: UserInfo }
  | { readonly kind: 'revoke'; readonly invitation: InvitationInfo };

export function PeoplePage() {
  const users = useLive<Listed<UserInfo>>('users');
  const invitations = useLive<Listed<InvitationInfo>>('invitations');
  const [action, setAction] = useState<Action | null>(null);
  return (
    <SettingsPage
      title="People"
      lead="Viewers can read. Operators can also change schedules, endpoints and deliveries. Admins can do everything."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAction({ kind: 'invite' })}>
          Invite
        </Button>
      }
    >
      <div class="space-y-4">
        <Card title="Users" isFlush>
          <Loaded live={users} skeleton={<TableSkeleton />}>
            {({ data }) => (
              <Table caption="Users" columns={userColumns(setAction)} rows={data} rowKey={({ id }) => id} />
            )}
          </Loaded>
        </Card>
        <Card title="Invitations" isFlush>
          <Loaded live={invitations} skeleton={<TableSkeleton />}>
            {({ data }) =>
              data.length === 0 ? (
                <EmptyState icon="person" title="No open invitations">
                  <p>An invitation is a link that creates one account. Send it in private.</p>
                </EmptyState>
              ) : (
                <Table
                  caption="Open invitations"
                  columns={invitationColumns(setAction)}
                  rows={data}
                  rowKey={({ id }) => id}
                />
              )
            }
          </Loaded>
        </Card>
      </div>
      {action === null ? null : <ActionDialog action={action} onAction={setAction} />}
    </SettingsPage>
  );
}

function isCurrentUser({ id }: UserInfo): boolean {
  const who = session.value;
  return typeof who !== 'string' && who.user.id === id;
}

function userColumns(onAction: (action: Action) => void): readonly Column<UserInfo>[] {
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
    { heading: 'Created', cell: ({ created_at }) => <Instant at={created_at} style="date" /> },
    {
      heading: 'Last seen',
      cell: ({ seen_at }) =>
        seen_at === null ? <span class="text-dim">never</span> : <Relative at={seen_at} />,
    },
    {
      heading: 'Actions',
      isActions: true,
      cell: (user) => (
        <span class="inline-flex">
          <Button
            kind="quiet"
            label={`Change ${user.name}`}
            onClick={() => onAction({ kind: 'change', user })}
          >
            Change…
          </Button>
          <Button
            kind="quiet"
            label={`Remove ${user.name}`}
            onClick={() => onAction({ kind: 'remove', user })}
          >
            Remove…
          </Button>
        </span>
      ),
    },
  ];
}

function invitationColumns(onAction: (action: Action) => void): readonly Column<InvitationInfo>[] {
  return [
    { heading: 'Role', isRowHeading: true, cell: ({ role }) => role },
    { heading: 'Projects', cell: ({ projects }) => formatProjects(projects) },
    { heading: 'Created by', cell: ({ created_by }) => created_by },
    { heading: 'Created', cell: ({ created_at }) => <Relative at={created_at} /> },
    {
      heading: 'Expires',
      cell: ({ expires_at }) => <Relative at={expires_at} />,
    },
    {
      heading: 'Actions',
      isActions: true,
      cell: (invitation) => (
        <Button
          kind="quiet"
          label={`Revoke the invitation of a ${invitation.role}`}
          onClick={() => onAction({ kind: 'revoke', invitation })}
        >
          Revoke…
        </Button>
      ),
    },
  ];
}

function ActionDialog({
  action,
  onAction,
}: {
  readonly action: Action;
  readonly onAction: (action: Action | null) => void;
}) {
  const close = () => onAction(null);
  switch (action.kind) {
    case 'invite':
      return (
        <AccessForm
          title="Invite a user"
          action="Create invitation"
          before={{ role: 'viewer', projects: null }}
          onClose={close}
          onSubmit={async (access) => {
            const invitation = await post<NewInvitation>('invitations', access);
            await refreshLive();
            onAction({ kind: 'invited', invitation });
          }}
        />
      );
    case 'invited':
      return <InvitationDialog invitation={action.invitation} onClose={close} />;
    case 'change':
      return (
        <AccessForm
          title={`Change ${action.user.name}`}
          action="Change"
          before={action.user}
          note="Their sessions end. The change applies when they sign in again."
          onClose={close}
          onSubmit={async (access) => {
            await post<UserInfo>(`users/${encodeURIComponent(action.user.id)}`, access);
            await refreshLive();
            toast('good', `${action.user.name} is ${access.role} now.`);
            close();
          }}
        />
      );
    case 'remove':
      return (
        <Confirm
          title={`Remove ${action.user.name}?`}
          action="Remove"
          isDanger
          typed={action.user.name}
          onClose={close}
          onConfirm={async () => {
            await post<Done>(`users/${encodeURIComponent(action.user.id)}/remove`);
            await refreshLive();
            toast('good', `${action.user.name} is removed.`);
          }}
        >
          <p>
            Their sessions end at once. They need a new invitation to come back. The audit log keeps their
            actions.
          </p>
        </Confirm>
      );
    case 'revoke':
      return (
        <Confirm
          title="Revoke this invitation?"
          action="Revoke"
          isDanger
          onClose={close}
          onConfirm={async () => {
            await post<Done>(`invitations/${encodeURIComponent(action.invitation.id)}/remove`);
            await refreshLive();
            toast('good', 'The invitation is revoked.');
          }}
        >
          <p>Its link stops working.</p>
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
          This link creates one account with the role <strong>{invitation.role}</strong>. Copy it now and send
          it in private. <strong>It is not shown again.</strong>
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
