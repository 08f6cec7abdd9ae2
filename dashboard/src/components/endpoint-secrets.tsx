/** The signing secrets of an endpoint profile: create, show, rotate, remove. */
import { useState } from 'preact/hooks';
import type { EndpointSecretInfo, Listed, SecretInfo } from '../../../src/control/http/contract.ts';
import { post } from '../api.ts';
import { refreshLive, useLive } from '../live.ts';
import { apiPath, hasRole } from '../session.ts';
import { Button } from './button.tsx';
import { Relative } from './instant.tsx';
import { OverlapDialog, RotateDialog } from './overlap-dialog.tsx';
import { Card, Loaded } from './page.tsx';
import { newestOf, RevealSecret, SecretDialog, SecretsTable } from './secrets.tsx';
import { TableSkeleton } from './skeleton.tsx';
import { toast } from './toast.tsx';

type Open = 'create' | 'rotate' | 'remove' | null;

export function EndpointSecrets({ id }: { readonly id: string }) {
  const path = `endpoints/${encodeURIComponent(id)}/secrets`;
  const live = useLive<Listed<EndpointSecretInfo>>(apiPath(path));
  const [open, setOpen] = useState<Open>(null);
  const [revealing, setRevealing] = useState<SecretInfo | null>(null);
  const [shown, setShown] = useState<SecretInfo | null>(null);
  const change = async (verb: string, overlap: string) => {
    const { data } = await post<Listed<EndpointSecretInfo>>(apiPath(`${path}${verb}`), { overlap });
    setOpen(null);
    setShown(newestOf(data));
    void refreshLive();
  };
  const remove = async (overlap: string) => {
    await change('/remove', overlap);
    toast('good', "Removed. The project's secret signs now.");
  };
  const secrets = live.data?.data ?? null;
  const onClose = () => setOpen(null);
  return (
    <Card
      title="Signing secrets"
      isFlush
      actions={
        secrets !== null && hasRole('admin') ? <Actions secrets={secrets} onOpen={setOpen} /> : undefined
      }
    >
      <Loaded live={live} skeleton={<TableSkeleton />}>
        {({ data }) => (
          <>
            <p class="px-4 pb-3 text-dim">
              <SigningStatus secrets={data} />
            </p>
            {data.length === 0 ? null : <SecretsTable secrets={data} onReveal={setRevealing} />}
          </>
        )}
      </Loaded>
      {open === 'create' ? <CreateDialog send={(overlap) => change('', overlap)} onClose={onClose} /> : null}
      {open === 'rotate' ? (
        <RotateDialog send={(overlap) => change('/rotate', overlap)} onClose={onClose} />
      ) : null}
      {open === 'remove' ? <RemoveDialog send={remove} onClose={onClose} /> : null}
      {revealing === null ? null : (
        <RevealSecret
          path={path}
          secret={revealing}
          onClose={() => setRevealing(null)}
          onRevealed={setShown}
        />
      )}
      {shown === null ? null : (
        <SecretDialog
          secret={shown}
          receivers="the receiver of this endpoint profile"
          onClose={() => setShown(null)}
        />
      )}
    </Card>
  );
}

interface ActionsProps {
  readonly secrets: readonly EndpointSecretInfo[];
  readonly onOpen: (open: Open) => void;
}

function Actions({ secrets, onOpen }: ActionsProps) {
  const hasOne = secrets.some(({ expires_at }) => expires_at === null);
  if (!hasOne) {
    return (
      <Button icon="plus" onClick={() => onOpen('create')}>
        Create…
      </Button>
    );
  }
  return (
    <div class="flex flex-wrap gap-2">
      <Button icon="retry" onClick={() => onOpen('rotate')}>
        Rotate…
      </Button>
      <Button kind="danger" onClick={() => onOpen('remove')}>
        Remove…
      </Button>
    </div>
  );
}

function SigningStatus({ secrets }: { readonly secrets: readonly EndpointSecretInfo[] }) {
  if (secrets.length === 0) {
    return (
      <>
        Requests are signed with the project's secret. With a secret of its own, this receiver cannot forge
        requests to other receivers.
      </>
    );
  }
  const aloneFrom = secrets.find(({ expires_at }) => expires_at === null)?.alone_from ?? null;
  if (aloneFrom === null)
    return <>The project's secret also signs, and it signs alone when these have ended.</>;
  if (Date.parse(aloneFrom) <= Date.now()) return <>Requests are signed only with these secrets.</>;
  return (
    <>
      The project's secret also signs. That ends <Relative at={aloneFrom} />.
    </>
  );
}

interface ChangeProps {
  readonly send: (overlap: string) => Promise<unknown>;
  readonly onClose: () => void;
}

function CreateDialog({ send, onClose }: ChangeProps) {
  return (
    <OverlapDialog
      title="Create a signing secret"
      action="Create"
      legend="The project's secret also signs for"
      noneHint="For a new receiver. Verification fails until the receiver has the new secret."
      send={send}
      onClose={onClose}
    >
      <p>
        Requests to this endpoint profile are signed with a new secret. Give it to the receiver before the
        overlap ends. After that the project's secret no longer signs them.
      </p>
    </OverlapDialog>
  );
}

function RemoveDialog({ send, onClose }: ChangeProps) {
  return (
    <OverlapDialog
      title="Remove the signing secret"
      action="Remove"
      legend="The removed secret also signs for"
      noneHint="For a leaked secret. Verification fails until the receiver has the project's secret."
      send={send}
      onClose={onClose}
    >
      <p>
        Requests are signed with the project's secret. Give it to the receiver before the overlap ends. After
        that the removed secret no longer signs.
      </p>
    </OverlapDialog>
  );
}
