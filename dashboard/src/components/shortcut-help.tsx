import { isHelpOpen, SHORTCUTS } from '../shortcuts.ts';
import { Dialog } from './dialog.tsx';

const OTHERS = [
  { keys: '/', label: 'Search' },
  { keys: '?', label: 'Keyboard shortcuts' },
  { keys: '← →', label: 'Move in a chart or a calendar' },
  { keys: 'Esc', label: 'Close the dialog or menu' },
] as const;

export function ShortcutHelp() {
  if (!isHelpOpen.value) return null;
  return (
    <Dialog
      title="Keyboard shortcuts"
      onClose={() => {
        isHelpOpen.value = false;
      }}
    >
      <dl class="grid grid-cols-[auto_1fr] gap-x-5 gap-y-2">
        {[...SHORTCUTS, ...OTHERS].map(({ keys, label }) => (
          <div key={keys} class="contents">
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key} class="key">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
