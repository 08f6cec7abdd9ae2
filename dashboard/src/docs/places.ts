/** Places on the page: the current section in the contents, links to fields, and print. */

/** A section is current when its top is above this part of the window. */
const CURRENT_AT = 0.3;

/** Marks the section that is being read in the contents. */
export function markCurrent(): void {
  const contents = document.getElementById('contents');
  if (contents === null) return;
  const links = [...contents.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')];
  const places = links.flatMap((link) => {
    const section = document.getElementById(link.hash.slice(1));
    return section === null ? [] : [{ link, section }];
  });
  let current: HTMLAnchorElement | null = null;
  const update = () => {
    const limit = innerHeight * CURRENT_AT;
    const passed = places.filter(({ section }) => section.getBoundingClientRect().top <= limit);
    const { link } = passed.at(-1) ?? places[0] ?? {};
    if (link === undefined || link === current) return;
    current?.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'location');
    current = link;
    scrollInside(contents, link);
  };
  let isAsked = false;
  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      update();
    });
  };
  addEventListener('scroll', ask, { passive: true });
  addEventListener('resize', ask, { passive: true });
  // On a phone the contents cover the page, so they close when a place is chosen.
  contents.addEventListener('click', (event) => {
    const isLink = event.target instanceof Element && event.target.closest('a') !== null;
    if (isLink && contents.matches(':popover-open')) contents.hidePopover();
  });
  update();
}

/** Keeps the link visible in the contents, without moving the page. */
function scrollInside(list: HTMLElement, link: HTMLElement): void {
  const [outer, inner] = [list.getBoundingClientRect(), link.getBoundingClientRect()];
  if (inner.top < outer.top) list.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom;
}

/** A field inside a closed list is shown when a link leads to it. */
export function openLinked(): void {
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target !== null && reveal(target)) target.scrollIntoView();
  };
  addEventListener('hashchange', open);
  open();
}

/** Opens all closed lists around a place. Returns whether there were any. */
export function reveal(place: Element): boolean {
  let isMoved = false;
  for (let list = place.closest('details:not([open])'); list !== null; isMoved = true) {
    list.setAttribute('open', '');
    list = list.parentElement?.closest('details:not([open])') ?? null;
  }
  return isMoved;
}

/** Paper has no closed lists. */
export function openForPrint(): void {
  let opened: readonly Element[] = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('main details:not([open])')];
    for (const list of opened) list.setAttribute('open', '');
  });
  addEventListener('afterprint', () => {
    for (const list of opened) list.removeAttribute('open');
    opened = [];
  });
}
