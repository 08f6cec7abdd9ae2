/** The conditions. Each says what is wrong when it is true, and which channels are told. */
import { useState } from 'preact/hooks';
import type { AlertChannelInfo, AlertConditionInfo } from '../../../../src/control/http/alert-contract.ts';
import type { Done, Listed } from '../../../../src/control/http/contract.ts';
import { patch, post } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Item, ItemList } from '../../components/item-list.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { toast } from '../../components/toast.tsx';
import { type Live, refreshLive } from '../../live.ts';
import { describeCondition } from '../../model/alerts.ts';
import { apiPath, hasRole } from '../../session.ts';
import { ConditionDialog } from './condition-dialog.tsx';

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'change' | 'off' | 'remove'; readonly condition: AlertConditionInfo };

export function Conditions({
  live,
  channels,
}: {
  readonly live: Live<Listed<AlertConditionInfo>>;
  readonly channels: readonly AlertChannelInfo[];
}) {
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  // The dialogs are outside of what depends on the data. So they stay when it changes.
  return (
    <>
      {channels.length === 0 ? null : (
        <Card
          title="Conditions"
          isFlush
          actions={
            hasRole('admin') ? (
              <Button icon="plus" onClick={() => setOpen({ kind: 'new' })}>
                Add condition
              </Button>
            ) : undefined
          }
        >
          <Loaded live={live} skeleton={<TableSkeleton label="Loading conditions" />}>
            {({ data }) =>
              data.length === 0 ? (
                <NoCondition />
              ) : (
                <ItemList label="Conditions">
                  {data.map((condition) => (
                    <ConditionItem
                      key={condition.id}
                      condition={condition}
                      channels={channels}
                      onOpen={setOpen}
                    />
                  ))}
                </ItemList>
              )
            }
          </Loaded>
        </Card>
      )}
      {open === null ? null : open.kind === 'new' ? (
        <ConditionDialog before={null} channels={channels} onClose={close} />
      ) : open.kind === 'change' ? (
        <ConditionDialog before={open.condition} channels={channels} onClose={close} />
      ) : (
        <EndDialog kind={open.kind} condition={open.condition} onClose={close} />
      )}
    </>
  );
}

function NoCondition() {
  return (
    <EmptyState icon="bell" title="No conditions yet">
      <p>
        A condition says what is wrong, and which channels are told.{' '}
        {hasRole('admin') ? 'Without one, nobody is told anything.' : 'An admin can add one.'}
      </p>
    </EmptyState>
  );
}

function pathOf({ id }: AlertConditionInfo): string {
  return apiPath(`alerts/conditions/${id}`);
}

function ConditionItem({
  condition,
  channels,
  onOpen,
}: {
  readonly condition: AlertConditionInfo;
  readonly channels: readonly AlertChannelInfo[];
  readonly onOpen: (open: Open) => void;
}) {
  const sentence = describeCondition(condition);
  const names = condition.channel_ids.map((id) => channels.find((one) => one.id === id)?.name ?? id);
  const switchOn = async () => {
    try {
      await patch<AlertConditionInfo>(pathOf(condition), { enabled: true });
      toast('good', 'The condition is switched on.');
      await refreshLive();
    } catch (error) {
      toast('bad', error instanceof Error ? error.message : 'The request failed. Try again.');
    }
  };
  return (
    <Item
      title={sentence}
      badge={
        condition.enabled ? null : (
          <Badge tone="neutral" icon="pause">
            Switched off
          </Badge>
        )
      }
      note={`Tells ${names.join(', ')}`}
      actions={
        hasRole('admin') ? (
          <>
            <Button
              kind="quiet"
              label={`Change: ${sentence}`}
              onClick={() => onOpen({ kind: 'change', condition })}
            >
              Change…
            </Button>
            {condition.enabled ? (
              <Button
                kind="quiet"
                label={`Switch off: ${sentence}`}
                onClick={() => onOpen({ kind: 'off', condition })}
              >
                Switch off…
              </Button>
            ) : (
              <Button kind="quiet" label={`Switch on: ${sentence}`} onClick={() => void switchOn()}>
                Switch on
              </Button>
            )}
            <Button
              kind="quiet"
              label={`Remove: ${sentence}`}
              onClick={() => onOpen({ kind: 'remove', condition })}
            >
              Remove…
            </Button>
          </>
        ) : null
      }
    />
  );
}

/** Both end the open incidents of the condition. */
function EndDialog({
  kind,
  condition,
  onClose,
}: {
  readonly kind: 'off' | 'remove';
  readonly condition: AlertConditionInfo;
  readonly onClose: () => void;
}) {
  const isOff = kind === 'off';
  const end = async () => {
    if (isOff) await patch<AlertConditionInfo>(pathOf(condition), { enabled: false });
    else await post<Done>(`${pathOf(condition)}/remove`);
    toast('good', isOff ? 'The condition is switched off.' : 'The condition is removed.');
    await refreshLive();
  };
  return (
    <Confirm
      title={isOff ? 'Switch off this condition' : 'Remove this condition'}
      action={isOff ? 'Switch off' : 'Remove'}
      isDanger={!isOff}
      onConfirm={end}
      onClose={onClose}
    >
      <p class="font-medium">{describeCondition(condition)}</p>
      <p>
        Nobody is told about it any more. Its open incidents are closed without a message. The list of
        incidents keeps them.
      </p>
    </Confirm>
  );
}
