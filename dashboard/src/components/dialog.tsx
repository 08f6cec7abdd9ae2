/** Dialogs on top of the page. The browser's `<dialog>` keeps the focus inside. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api.ts';
import { useRequest } from '../use-request.ts';
import { Button } from './button.tsx';
import { ErrorNote } from './error.tsx';
import { TextField } from './field.tsx';
import { Icon } from './icon.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
  /** Whether a click outside keeps it open, so that typed text and secrets are not lost. */
  readonly isKept?: boolean;
}

const FIELD = 'form :is(input:not([type="radio"]:not(:checked)), textarea, select)';

/** A dialog that is open while it is rendered. */
export function Dialog({ title, onClose, children, isWide = false, isKept = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    // The first field gets the focus, not the button that closes the dialog.
    element.current?.querySelector<HTMLElement>(FIELD)?.focus();
    return () => {
      // The button that opened the dialog may disappear with it: a canceled schedule has no buttons. A dialog that
      // follows another dialog was opened by no button.
      queueMicrotask(() => {
        const hasOpener = before !== document.body && before?.isConnected === true;
        const back = hasOpener ? before : document.querySelector('h1');
        if (back instanceof HTMLElement) back.focus();
      });
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too.
    <dialog
      ref={element}
      aria-labelledby={titleId}
      class={`card w-[calc(100vw-1.5rem)] p-0 shadow-xl ${isWide ? 'max-w-3xl' : 'max-w-lg'}`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (!isKept && event.target === element.current) onClose();
      }}
    >
      <div class="p-5">
        <div class="mb-3 flex items-start justify-between gap-4">
          <h2 id={titleId} class="text-lg font-semibold">
            {title}
          </h2>
          <button
            type="button"
            class="-m-1 rounded p-1 text-dim hover:bg-sunken hover:text-ink"
            aria-label="Close"
            onClick={onClose}
          >
            <Icon name="cross" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  /** The text says exactly what will happen. */
  readonly children: ComponentChildren;
  /** The button names the action: "Revoke key", not "OK". */
  readonly action: string;
  /** The button that closes the dialog, where "Cancel" could be read as the action. */
  readonly dismiss?: string;
  readonly isDanger?: boolean;
  /** The text that must be typed before an action that cannot be undone. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Asks for a confirmation. It closes when the action is done, and shows an error otherwise. */
export function Confirm({
  title,
  children,
  action,
  dismiss = 'Cancel',
  isDanger = false,
  typed,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const [text, setText] = useState('');
  const request = useRequest(onConfirm);
  const isReady = typed === undefined || text.trim() === typed;
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isReady && (await request.run())) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} isKept={typed !== undefined}>
      <form onSubmit={(event) => void submit(event)} class="space-y-4">
        <div class="space-y-2">{children}</div>
        {typed === undefined ? null : (
          <TextField
            label={
              <>
                Type <code class="font-mono">{typed}</code> to confirm
              </>
            }
            value={text}
            onValue={setText}
            isMono
            autocomplete="off"
          />
        )}
        <DialogEnd
          error={request.error}
          isBusy={request.isBusy}
          disabled={!isReady}
          action={action}
          dismiss={dismiss}
          isDanger={isDanger}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}

/** The end of a form in a dialog: its error, and the buttons to cancel and to act. */
export function DialogEnd({
  error,
  isBusy,
  disabled = false,
  action,
  dismiss = 'Cancel',
  isDanger = false,
  onClose,
}: {
  readonly error: ApiError | null;
  readonly isBusy: boolean;
  readonly disabled?: boolean;
  readonly action: string;
  readonly dismiss?: string;
  readonly isDanger?: boolean;
  readonly onClose: () => void;
}) {
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      <div class="flex justify-end gap-2">
        <Button onClick={onClose}>{dismiss}</Button>
        <Button type="submit" kind={isDanger ? 'danger' : 'primary'} isBusy={isBusy} disabled={disabled}>
          {action}
        </Button>
      </div>
    </>
  );
}
