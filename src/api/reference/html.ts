/** Texts of the document as HTML. Everything that is not made here passes through `text`. */

export function text(value: string): string {
  return value.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}

/** Renders `code`, the only markup inside the paragraphs of the document. */
export function inline(markdown: string): string {
  return text(markdown).replace(/`([^`]+)`/g, '<code>$1</code>');
}

export function prose(markdown: string): string {
  return markdown
    .split(/\n\n+/)
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('');
}

/** An id for a link to a place on the page. Field names keep their form, so that links can be read. */
export function anchor(...names: readonly string[]): string {
  return names.map((name) => name.replace(/[^\w.-]+/g, '')).join('-');
}
