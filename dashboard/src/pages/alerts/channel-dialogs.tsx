/** The dialogs of a channel: add, rename, reveal its URL, remove, and the test message. */
import type {
  AlertChannelInfo,
  AlertMessageInfo,
  RevealedAlertUrl,
} from '../../../../src/control/http/alert-contract.ts';
import type { Done } from '../../../../src/control/http/contract.ts';
import { patch, post } from '../../api.ts';
import { MESSAGE_BADGES, StateBadge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Choice } from '../../components/choice.tsx';
import { CopyBlock } from '../../components/copy.tsx';
import { Confirm, Dialog, DialogEnd } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { describeMessage } from '../../model/alerts.ts';
import { apiPath } from '../../session.ts';
import { useForm } from '../../use-form.ts';

type Kind = AlertChannelInfo['kind'];

export const CHANNEL_KINDS: Readonly<Record<Kind, string>> = { slack: 'Slack', webhook: 'Webhook' };

const KIND_OPTIONS = (Object.entries(CHANNEL_KINDS) as [Kind, string][]).map(([value, label]) => ({
  value,
  label,
}));

const KIND_HINTS: Readonly<Record<Kind, string>> = {
  slack: 'An incoming webhook of Slack, or of a service that takes its form.',
  webhook: 'Your own receiver. It gets JSON, signed like a delivery.',
};

interface DialogProps {
  readonly channel: AlertChannelInfo;
  readonly onClose: () => void;
}

function pathOf({ id }: AlertChannelInfo): string {
  return apiPath(`alerts/channels/${id}`);
}

interface NewChannel {
  readonly kind: Kind;
  readonly name: string;
  readonly url: string;
}

const NEW_CHANNEL: NewChannel = { kind: 'slack', name: '', url: '' };

export function NewChannelDialog({ onClose }: Pick<DialogProps, 'onClose'>) {
  const add = async (form: NewChannel) => {
    const { kind, name, url } = form;
    const body = { kind, name: name.trim(), url: url.trim() };
    await post<AlertChannelInfo>(apiPath('alerts/channels'), body);
    toast('good', 'The channel is added. Test it, then use it in a condition.');
    onClose();
    await refreshLive();
  };
  const { form, change, errors, error, isBusy, submit, element } = useForm(NEW_CHANNEL, add, (shown) =>
    Object.keys(shown),
  );
  return (
    <Dialog title="Add a channel" onClose={onClose} isKept>
      <form ref={element} onSubmit={submit} noValidate class="space-y-4">
        <div>
          <Choice
            label="Kind"
            value={form.kind}
            options={KIND_OPTIONS}
            onValue={(kind) => change({ ...form, kind })}
          />
          <p class="mt-1 text-sm text-dim">{KIND_HINTS[form.kind]}</p>
        </div>
        <NameOfChannel value={form.name} error={errors.name} onValue={(name) => change({ ...form, name })} />
        <TextField
          type="url"
          label="URL"
          value={form.url}
          error={errors.url}
          placeholder="https://hooks.example.com/…"
          autocomplete="off"
          hint="It is a credential: encrypted at rest, and only an admin can reveal it."
          onValue={(url) => change({ ...form, url })}
        />
        <DialogEnd error={error} isBusy={isBusy} action="Add channel" onClose={onClose} />
      </form>
    </Dialog>
  );
}

function NameOfChannel(field: {
  readonly value: string;
  readonly error: string | undefined;
  readonly onValue: (name: string) => void;
}) {
  return <TextField label="Name" placeholder="on-call" maxLength={100} autocomplete="off" {...field} />;
}

export function RenameDialog({ channel, onClose }: DialogProps) {
  const rename = async (name: string) => {
    await patch<AlertChannelInfo>(pathOf(channel), { name: name.trim() });
    toast('good', 'The channel is renamed.');
    onClose();
    await refreshLive();
  };
  const form = useForm<string>(channel.name, rename, () => ['name']);
  return (
    <Dialog title="Rename the channel" onClose={onClose}>
      <form ref={form.element} onSubmit={form.submit} noValidate class="space-y-4">
        <NameOfChannel value={form.form} error={form.errors.name} onValue={form.change} />
        <p class="text-sm text-dim">
          Its URL does not change. For another URL, add a channel, choose it in the conditions, then remove
          this one.
        </p>
        <DialogEnd error={form.error} isBusy={form.isBusy} action="Rename" onClose={onClose} />
      </form>
    </Dialog>
  );
}

export function RemoveChannel({ channel, onClose }: DialogProps) {
  const remove = async () => {
    await post<Done>(`${pathOf(channel)}/remove`);
    toast('good', 'The channel is removed.');
    await refreshLive();
  };
  return (
    <Confirm title="Remove this channel" action="Remove" isDanger onConfirm={remove} onClose={onClose}>
      <p>
        <strong>{channel.name}</strong> gets no more messages, and messages that wait fail. The service
        forgets its URL.
      </p>
      <p class="text-dim">The service refuses while a condition uses it.</p>
    </Confirm>
  );
}

export function RevealUrl({
  channel,
  onRevealed,
  onClose,
}: DialogProps & { readonly onRevealed: (shown: ShownUrlProps) => void }) {
  const reveal = async () => {
    const { url } = await post<RevealedAlertUrl>(`${pathOf(channel)}/reveal`);
    onRevealed({ channel, url });
  };
  return (
    <Confirm title="Reveal this URL?" action="Reveal" onConfirm={reveal} onClose={onClose}>
      <p>
        A person who knows the URL can send messages to <strong>{channel.name}</strong>. The audit log records
        that you revealed it.
      </p>
    </Confirm>
  );
}

export interface ShownUrlProps {
  readonly channel: AlertChannelInfo;
  readonly url: string;
}

export function ShownUrl({ channel, url, onClose }: ShownUrlProps & Pick<DialogProps, 'onClose'>) {
  return (
    <Dialog title="URL of the channel" onClose={onClose} isKept>
      <div class="space-y-4">
        <p>
          Messages to <strong>{channel.name}</strong> go to this URL.
        </p>
        <CopyBlock text={url} label="URL" />
        <DoneButton onClose={onClose} />
      </div>
    </Dialog>
  );
}

/** Follows the test message until it is delivered or has failed. */
export function TestDialog({ channel, first, onClose }: DialogProps & { readonly first: AlertMessageInfo }) {
  const live = useLive<AlertMessageInfo>(apiPath(`alerts/messages/${first.id}`));
  const message = live.data ?? first;
  const { status } = message;
  return (
    <Dialog title={`Test of ${channel.name}`} onClose={onClose}>
      <div class="space-y-4">
        <div aria-live="polite" class="space-y-2">
          <p>
            <StateBadge state={status} badges={MESSAGE_BADGES} />
          </p>
          <p>{describeMessage(message)}</p>
          {status === 'failed' ? (
            <p class="text-dim">Check the URL and the receiver, then test again.</p>
          ) : null}
        </div>
        <DoneButton onClose={onClose} />
      </div>
    </Dialog>
  );
}

function DoneButton({ onClose }: Pick<DialogProps, 'onClose'>) {
  return (
    <div class="flex justify-end">
      <Button kind="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  );
}
