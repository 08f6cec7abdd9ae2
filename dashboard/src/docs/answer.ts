/** Shows what came back. Everything in it is text. */
import { element } from './dom.ts';
import type { Answer } from './request.ts';

const FIRST_ERROR_STATUS = 400;

interface ErrorBody {
  readonly message: string;
  readonly code: string;
  readonly param: string | null;
}

/** `operation` is the id of the section on the page. */
export function answerParts({ status, ms, headers, body }: Answer, operation: string): readonly Node[] {
  const isGood = status < FIRST_ERROR_STATUS;
  const said = `${isGood ? 'Answer' : 'Error'} ${status} after ${ms} ms`;
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  return [
    element('p', { class: isGood ? 'status good' : 'status bad' }, said),
    ...(isGood ? [] : explain(readError(body), operation)),
    block('Answer', body),
    element('details', {}, element('summary', {}, `${headers.length} headers`), block('Headers', lines)),
  ];
}

function block(name: string, text: string): HTMLPreElement {
  return element('pre', { tabindex: '0', 'aria-label': name }, element('code', {}, text));
}

/** The message of an error, with links to its field and its code on this page. */
function explain(error: ErrorBody | null, operation: string): readonly Node[] {
  if (error === null) return [];
  const { message, code, param } = error;
  const links = [
    ...(param === null ? [] : linkTo(param, `${operation}-${param}`)),
    ...linkTo(code, `${operation}-error-${code}`),
  ];
  const note = links.flatMap((link, at) => [at === 0 ? 'See ' : ' and ', link]);
  return [
    element('p', {}, message),
    ...(note.length === 0 ? [] : [element('p', { class: 'note' }, ...note, '.')]),
  ];
}

function linkTo(name: string, id: string): readonly HTMLAnchorElement[] {
  if (document.getElementById(id) === null) return [];
  return [element('a', { href: `#${id}` }, element('code', {}, name))];
}

function readError(body: string): ErrorBody | null {
  try {
    const { error } = JSON.parse(body) as { readonly error?: Partial<ErrorBody> };
    const { message, code, param } = error ?? {};
    if (typeof message !== 'string' || typeof code !== 'string') return null;
    return { message, code, param: typeof param === 'string' ? param : null };
  } catch {
    return null;
  }
}
