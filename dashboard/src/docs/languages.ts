/** A language that is chosen for one sample is shown in all samples of the page. */

export function keepLanguage(): void {
  document.addEventListener('change', (event) => {
    const { target } = event;
    if (!(target instanceof HTMLInputElement) || !target.name.startsWith('language-')) return;
    const before = target.getBoundingClientRect().top;
    const same = document.querySelectorAll<HTMLInputElement>(`.languages input[value="${target.value}"]`);
    for (const input of same) input.checked = true;
    // The samples above have other heights now. What the reader looks at stays where it is.
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  });
}
