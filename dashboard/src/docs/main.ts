/**
 * The script of the reference at `/docs`. The service renders the page (`src/api/reference`), and everything on it can be
 * read without this script. It adds the search, the form that sends a request, and small helps. It stores nothing.
 */
import './docs.css';
import { copyOnClick } from './copy.ts';
import { keepLanguage } from './languages.ts';
import { markCurrent, openForPrint, openLinked } from './places.ts';
import { startSearch } from './search.ts';
import { openTryIt } from './try-it.ts';

for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[data-action]') : null;
  if (!(button instanceof HTMLButtonElement)) return;
  if (button.dataset.action === 'copy') void copyOnClick(button);
  if (button.dataset.action === 'try') openTryIt(button);
});

keepLanguage();
markCurrent();
openLinked();
openForPrint();
startSearch();
