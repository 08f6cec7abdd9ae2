/** The parts that the pages of the API share: home and the reference. */

const CLOCK = '<circle cx="16" cy="16" r="9"/><path d="M16 10.5V16l4 2.5"/>';
const LINES = 'fill="none" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"';
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2a54cc"/><g ${LINES} stroke="#fff">${CLOCK}</g></svg>`;

export const ICON_LINK = `<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">`;

/** The style of a page gives it the colours of its theme. */
export function logo(pixels: number): string {
  return `<svg class="logo" viewBox="0 0 32 32" width="${pixels}" height="${pixels}" aria-hidden="true"><rect width="32" height="32" rx="8"/><g ${LINES}>${CLOCK}</g></svg>`;
}
