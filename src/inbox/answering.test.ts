import { expect, test } from 'vitest';
import { Answering, type AnswerKind, FIRST_CHOICE } from './answering.ts';

test('a choice for so many requests goes back to 200', () => {
  const answering = new Answering();
  answering.choose({ answer: '500', times: 2 });
  expect([answering.take(), answering.take(), answering.take()]).toEqual(['500', '500', '200']);
  expect(answering.choice).toEqual(FIRST_CHOICE);
});

test('what hangs is answered by the next choice that is an answer, once', () => {
  const answering = new Answering();
  const given: AnswerKind[] = [];
  answering.choose({ answer: 'hang', times: null });
  answering.hang((answer) => given.push(answer));
  const forget = answering.hang(() => given.push('redirect'));
  forget();
  answering.choose({ answer: 'hang', times: 1 });
  expect(given).toEqual([]);
  answering.choose({ answer: '500', times: null });
  answering.choose({ answer: '200', times: null });
  expect(given).toEqual(['500']);
});

test('no more than 100 hang', () => {
  const answering = new Answering();
  answering.choose({ answer: 'hang', times: null });
  for (let count = 0; count < 100; count++) {
    expect(answering.take()).toBe('hang');
    answering.hang(() => {});
  }
  expect(answering.take()).toBe('500');
});

test('when the service stops nobody is left hanging, then or later', () => {
  const answering = new Answering();
  const given: AnswerKind[] = [];
  answering.choose({ answer: 'hang', times: null });
  answering.hang((answer) => given.push(answer));
  answering.end();
  expect(given).toEqual(['500']);
  expect(answering.take()).toBe('500');
});
