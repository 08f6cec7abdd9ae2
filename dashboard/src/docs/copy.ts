/** The buttons that copy a block of code. */

const SHOWN_MS = 2_000;

/** Browsers give access to the clipboard only with TLS or on the same machine. Otherwise the text is selected. */
export async function copyOnClick(button: HTMLButtonElement): Promise<void> {
  const block = button.parentElement?.querySelector('pre');
  if (!block) return;
  const label = button.firstChild;
  const tell = (said: string) => {
    if (label !== null) label.textContent = said;
  };
  try {
    await navigator.clipboard.writeText(block.textContent ?? '');
    tell('Copied');
  } catch {
    getSelection()?.selectAllChildren(block);
    tell('Selected');
  }
  setTimeout(() => tell('Copy'), SHOWN_MS);
}
