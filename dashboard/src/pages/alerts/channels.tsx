/** The channels: where the messages of alerts go. */
import { useState } from 'preact/hooks';
import type { AlertChannelInfo, AlertMessageInfo } from '../../../../src/control/http/alert-contract.ts';
import { post } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { withLineBreaks } from '../../components/copy.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Item, ItemList } from '../../components/item-list.tsx';
import { Card } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { apiPath, hasRole } from '../../session.ts';
import { useRequest } from '../../use-request.ts';
import {
  CHANNEL_KINDS,
  NewChannelDialog,
  RemoveChannel,
  RenameDialog,
  RevealUrl,
  ShownUrl,
  type ShownUrlProps,
  TestDialog,
} from './channel-dialogs.tsx';

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'rename' | 'reveal' | 'remove'; readonly channel: AlertChannelInfo }
  | { readonly kind: 'test'; readonly channel: AlertChannelInfo; readonly message: AlertMessageInfo };

export function Channels({ channels }: { readonly channels: readonly AlertChannelInfo[] }) {
  const [open, setOpen] = useState<Open | null>(null);
  const [shown, setShown] = useState<ShownUrlProps | null>(null);
  const add = () => setOpen({ kind: 'new' });
  // The dialogs are outside of what depends on the data. So they stay when it changes.
  return (
    <>
      {channels.length === 0 ? (
        <NoChannel onAdd={add} />
      ) : (
        <Card
          title="Channels"
          isFlush
          actions={
            hasRole('admin') ? (
              <Button icon="plus" onClick={add}>
                Add channel
              </Button>
            ) : undefined
          }
        >
          <ItemList label="Channels">
            {channels.map((channel) => (
              <ChannelItem key={channel.id} channel={channel} onOpen={setOpen} />
            ))}
          </ItemList>
        </Card>
      )}
      {open === null ? null : <OpenDialog open={open} onRevealed={setShown} onClose={() => setOpen(null)} />}
      {shown === null ? null : <ShownUrl {...shown} onClose={() => setShown(null)} />}
    </>
  );
}

/** A condition needs a channel, so a channel comes first. */
function NoChannel({ onAdd }: { readonly onAdd: () => void }) {
  const isAdmin = hasRole('admin');
  return (
    <Card>
      <EmptyState icon="bell" title="No alerts yet">
        <p>{isAdmin ? 'Two steps set them up:' : 'An admin can set them up in two steps:'}</p>
        <ol class="list-decimal space-y-1 pl-5 text-left">
          <li>Add a channel. It says where messages go: to Slack, or to your own webhook.</li>
          <li>Add a condition. It says what is wrong, and which channels are told.</li>
        </ol>
        {isAdmin ? (
          <Button kind="primary" icon="plus" onClick={onAdd}>
            Add channel
          </Button>
        ) : null}
      </EmptyState>
    </Card>
  );
}

function ChannelItem({
  channel,
  onOpen,
}: {
  readonly channel: AlertChannelInfo;
  readonly onOpen: (open: Open) => void;
}) {
  const { id, name, kind, url } = channel;
  const testing = useRequest(async () => {
    try {
      const message = await post<AlertMessageInfo>(apiPath(`alerts/channels/${id}/test`));
      onOpen({ kind: 'test', channel, message });
    } catch (error) {
      toast('bad', error instanceof Error ? error.message : 'The request failed. Try again.');
    }
  });
  return (
    <Item
      title={name}
      badge={null}
      note={
        <>
          {CHANNEL_KINDS[kind]} at {withLineBreaks(url)}
        </>
      }
      actions={
        <>
          {hasRole('operator') ? (
            <Button
              kind="quiet"
              label={`Test ${name}`}
              isBusy={testing.isBusy}
              onClick={() => void testing.run()}
            >
              Test
            </Button>
          ) : null}
          {hasRole('admin')
            ? ACTIONS.map(([open, label]) => (
                <Button
                  key={open}
                  kind="quiet"
                  label={`${label} ${name}`}
                  onClick={() => onOpen({ kind: open, channel })}
                >
                  {label}…
                </Button>
              ))
            : null}
        </>
      }
    />
  );
}

const ACTIONS = [
  ['rename', 'Rename'],
  ['reveal', 'Reveal'],
  ['remove', 'Remove'],
] as const;

function OpenDialog({
  open,
  onRevealed,
  onClose,
}: {
  readonly open: Open;
  readonly onRevealed: (shown: ShownUrlProps) => void;
  readonly onClose: () => void;
}) {
  switch (open.kind) {
    case 'new':
      return <NewChannelDialog onClose={onClose} />;
    case 'rename':
      return <RenameDialog channel={open.channel} onClose={onClose} />;
    case 'reveal':
      return <RevealUrl channel={open.channel} onRevealed={onRevealed} onClose={onClose} />;
    case 'remove':
      return <RemoveChannel channel={open.channel} onClose={onClose} />;
    case 'test':
      return <TestDialog channel={open.channel} first={open.message} onClose={onClose} />;
  }
}
