/** The list of signing secrets, and the dialogs that reveal one. */
import type { SecretInfo } from '../../../src/control/http/contract.ts';
import { post } from '../api.ts';
import { apiPath, hasRole } from '../session.ts';
import { Badge } from './badge.tsx';
import { Button } from './button.tsx';
import { CopyBlock, TruncatedText } from './copy.tsx';
import { Confirm, Dialog } from './dialog.tsx';
import { Instant, Relative } from './instant.tsx';
import { type Column, Table } from './table.tsx';

export interface SecretsTableProps {
  readonly secrets: readonly SecretInfo[];
  readonly onReveal: (secret: SecretInfo) => void;
}

export function SecretsTable({ secrets, onReveal }: SecretsTableProps) {
  return (
    <Table caption="Signing secrets" columns={columns(onReveal)} rows={secrets} rowKey={({ id }) => id} />
  );
}

function columns(onReveal: (secret: SecretInfo) => void): readonly Column<SecretInfo>[] {
  return [
    {
      heading: 'Secret',
      isRowHeading: true,
      cell: ({ id }) => <TruncatedText text={id} charactersMax={20} isMono />,
    },
    { heading: 'Created', cell: ({ created_at }) => <Instant at={created_at} style="minute" /> },
    {
      heading: 'State',
      cell: ({ expires_at }) =>
        expires_at === null ? (
          <Badge tone="good" icon="check">
            Active
          </Badge>
        ) : (
          <span class="inline-flex flex-wrap items-center gap-1.5">
            <Badge tone="warn" icon="hourglass">
              Expiring
            </Badge>
            <span class="text-dim">
              stops signing <Relative at={expires_at} />
            </span>
          </span>
        ),
    },
    {
      heading: 'Actions',
      isActions: true,
      cell: (secret) =>
        hasRole('admin') ? (
          <Button kind="quiet" label={`Reveal ${secret.id}`} onClick={() => onReveal(secret)}>
            Reveal…
          </Button>
        ) : null,
    },
  ];
}

interface RevealProps {
  /** The path of the secrets, such as `secrets`. */
  readonly path: string;
  readonly secret: SecretInfo;
  readonly onClose: () => void;
  readonly onRevealed: (secret: SecretInfo) => void;
}

export function RevealSecret({ path, secret, onClose, onRevealed }: RevealProps) {
  const reveal = async () => {
    onRevealed(await post<SecretInfo>(apiPath(`${path}/${encodeURIComponent(secret.id)}/reveal`)));
  };
  return (
    <Confirm title="Reveal this secret?" action="Reveal" onConfirm={reveal} onClose={onClose}>
      <p>
        A person who knows the secret can forge requests that your receivers trust. The audit log records that
        you revealed it.
      </p>
    </Confirm>
  );
}

interface ShownSecretProps {
  readonly secret: SecretInfo;
  /** The receivers that get the secret. */
  readonly receivers: string;
  readonly onClose: () => void;
}

export function SecretDialog({ secret, receivers, onClose }: ShownSecretProps) {
  return (
    <Dialog title="Signing secret" onClose={onClose} isKept>
      <div class="space-y-4">
        <p>Give the whole text, with its prefix, to {receivers}.</p>
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

/** Returns the secret whose text came with the answer to a change. */
export function newestOf(secrets: readonly SecretInfo[]): SecretInfo | null {
  return secrets.find(({ text }) => text !== undefined) ?? null;
}
