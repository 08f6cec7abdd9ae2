/** A bulk replay of all dead letters, ordered on the page and waited for. */
import type { Person } from './person.ts';
import { PROJECT } from './places.ts';

/** Answers its id. */
export async function replayDeadLetters(person: Person, origin: string): Promise<string> {
  await person.page.goto(`${origin}/dashboard/${PROJECT}/deliveries?status=dead_letter`);
  await person.press('Replay dead letters…');
  await person.press(/^Replay \d+ deliver/, person.dialog('Replay in bulk'));
  await person.heading('Bulk replay');
  await person.sees('Done', person.page.getByRole('main'));
  return person.id();
}
