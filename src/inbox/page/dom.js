/** What the parts of the page have in common: elements with nothing but text in them, and requests. What arrives
 * may come from anyone: it is never read as HTML. */

/** @param {string} id */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no ${id}.`);
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

/** Says that it is copied until one looks elsewhere. */
export function copyButton(button, text) {
  const label = button.textContent;
  const reset = () => {
    button.textContent = label;
  };
  button.addEventListener('click', () => {
    const say = (words) => {
      button.textContent = words;
    };
    navigator.clipboard.writeText(text()).then(
      () => say('Copied'),
      () => say('Select and copy'),
    );
  });
  button.addEventListener('blur', reset);
  button.addEventListener('pointerleave', reset);
  return button;
}

/** Null when it did not work: then the service is away, and the page says so already. */
export async function askFor(path, options = {}) {
  try {
    const answer = await fetch(path, options);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

export function post(path, body, headers = {}) {
  return askFor(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}
