/** Creates the schedules that are multiplied, through the API and with all fields that customers use. */
import { Agent } from 'undici';
import { API_KEY } from '../sched/service.ts';

/** Each template has its own endpoint. Sizes of stores are multiples of this number. */
export const TEMPLATES = 1_000;
const CREATES_AT_ONCE = 32;
const TENANTS = 50;
const YEAR_MS = 365 * 86_400_000;
/** The instants of the templates spread over half a minute, which is the distance between two copies. */
const TEMPLATES_APART_MS = 37;

export async function createTemplates(serviceUrl: string): Promise<void> {
  const client = new Agent();
  const numbers = Array.from({ length: TEMPLATES }, (_, number) => number).values();
  const dueFrom = Date.now() + YEAR_MS;
  const worker = async () => {
    for (const number of numbers) await create(client, serviceUrl, number, dueFrom);
  };
  try {
    await Promise.all(Array.from({ length: CREATES_AT_ONCE }, worker));
  } finally {
    await client.close();
  }
}

async function create(client: Agent, origin: string, number: number, dueFrom: number): Promise<void> {
  const { statusCode, body } = await client.request({
    origin,
    path: '/v1/schedules',
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: `https://customer-${number}.example.com/hooks/reminders`,
      fire_at: new Date(dueFrom + number * TEMPLATES_APART_MS).toISOString(),
      headers: { 'X-Reminder': `reminder-${number}` },
      body: JSON.stringify({ reminder: number, text: 'Your appointment is tomorrow.' }),
      metadata: { tenant: `tenant-${number % TENANTS}` },
    }),
  });
  const text = await body.text();
  if (statusCode !== 201) throw new Error(`A create was answered ${statusCode}: ${text}`);
}
