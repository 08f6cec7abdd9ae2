/**
 * Helpers of the page: elements and requests. A request to the inbox can come from anyone, so its content is
 * only ever set as text and never as HTML.
 */

/** @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element with id ${id}.`);
  return element;
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** The button confirms the copy until it loses focus or the pointer. */
export function copyButton(button, textOf) {
  const label = button.textContent;
  const reset = () => {
    button.textContent = label;
  };
  button.addEventListener('click', () => {
    const confirm = (text) => {
      button.textContent = text;
    };
    navigator.clipboard.writeText(textOf()).then(
      () => confirm('Copied'),
      () => confirm('Select and copy'),
    );
  });
  button.addEventListener('blur', reset);
  button.addEventListener('pointerleave', reset);
  return button;
}

/** Returns null on failure. Then the service cannot be reached, and the page already shows that. */
export async function fetchJson(path, options = {}) {
  try {
    const answer = await fetch(path, options);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

export function post(path, body, headers = {}) {
  return fetchJson(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}
