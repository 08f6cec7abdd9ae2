/** Secrets that sign requests, and how one takes the place of another. */
import { useState } from 'preact/hooks';
import type { Listed, SecretInfo } from '../../../../src/control/http/contract.ts';
import { post } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CopyBlock } from '../../components/copy.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { Instant, Relative } from '../../components/instant.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { inProject, may, place } from '../../session.ts';
import { Settings } from './frame.tsx';
import { Rotate } from './rotate.tsx';

export function SecretsPage() {
  const live = useLive<Listed<SecretInfo>>(inProject('secrets'));
  const [isRotating, setRotating] = useState(false);
  const [asked, setAsked] = useState<SecretInfo | null>(null);
  const [shown, setShown] = useState<SecretInfo | null>(null);
  return (
    <Settings
      title="Signing secrets"
      lead={
        <p>
          Every request in {place.value?.mode} mode is signed, so that receivers can tell it from a forged
          one. Receivers check it with this secret.
        </p>
      }
      actions={
        may('admin') ? (
          <Button kind="primary" icon="retry" onClick={() => setRotating(true)}>
            Rotate…
          </Button>
        ) : undefined
      }
    >
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton />}>
          {({ data }) => (
            <Table
              caption="Signing secrets"
              columns={columns(setAsked)}
              rows={data}
              rowKey={({ id }) => id}
            />
          )}
        </Loaded>
      </Card>
      {isRotating ? (
        <Rotate
          onClose={() => setRotating(false)}
          onRotated={(secret) => {
            setRotating(false);
            setShown(secret);
            void refreshLive();
          }}
        />
      ) : null}
      {asked === null ? null : <Reveal secret={asked} onClose={() => setAsked(null)} onRevealed={setShown} />}
      {shown === null ? null : <ShownSecret secret={shown} onClose={() => setShown(null)} />}
    </Settings>
  );
}

function columns(onReveal: (secret: SecretInfo) => void): readonly Column<SecretInfo>[] {
  return [
    {
      heading: 'Secret',
      isRowHeading: true,
      cell: ({ id }) => <code class="font-mono text-sm wrap-anywhere">{id}</code>,
    },
    { heading: 'Made', cell: ({ created_at }) => <Instant at={created_at} style="minute" /> },
    {
      heading: 'State',
      cell: ({ expires_at }) =>
        expires_at === null ? (
          <Badge tone="good" icon="check">
            Signs
          </Badge>
        ) : (
          <span class="inline-flex flex-wrap items-center gap-1.5">
            <Badge tone="warn" icon="hourglass">
              Still signs
            </Badge>
            <span class="text-dim">
              ends <Relative at={expires_at} />
            </span>
          </span>
        ),
    },
    {
      heading: 'Actions',
      isHeadingHidden: true,
      isFigure: true,
      cell: (secret) =>
        may('admin') ? (
          <Button kind="quiet" icon="eye" label={`Reveal ${secret.id}`} onClick={() => onReveal(secret)}>
            Reveal…
          </Button>
        ) : null,
    },
  ];
}

interface RevealProps {
  readonly secret: SecretInfo;
  readonly onClose: () => void;
  readonly onRevealed: (secret: SecretInfo) => void;
}

function Reveal({ secret, onClose, onRevealed }: RevealProps) {
  const reveal = async () => {
    onRevealed(await post<SecretInfo>(inProject(`secrets/${encodeURIComponent(secret.id)}/reveal`)));
  };
  return (
    <Confirm title="Reveal this secret?" action="Reveal" onConfirm={reveal} onClose={onClose}>
      <p>
        Whoever knows it can forge requests that your receivers trust. That you looked is written into the
        audit log.
      </p>
    </Confirm>
  );
}

function ShownSecret({ secret, onClose }: { readonly secret: SecretInfo; readonly onClose: () => void }) {
  return (
    <Dialog title="Signing secret" onClose={onClose} isKept>
      <div class="space-y-4">
        <p>
          Give it to every receiver that checks signatures, whole, with what stands before the underscore.
        </p>
        <CopyBlock text={secret.text ?? ''} label="Signing secret" />
        <div class="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
