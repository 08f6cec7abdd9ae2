/** For each language: how to wrap its snippet of docs/verifying.md into a program that reads vectors, and run it. */

type Command = readonly [command: string, ...args: string[]];

export interface Driver {
  readonly heading: string;
  /** The name of the language in the code blocks of the page. */
  readonly fence: string;
  /** A command that succeeds if the language is installed. */
  readonly probe: Command;
  readonly files: (snippet: string) => Readonly<Record<string, string>>;
  readonly build?: readonly Command[];
  readonly run: Command;
}

const TYPESCRIPT = `
import { readFileSync } from 'node:fs';
const text = (field: string) => Buffer.from(field, 'base64').toString();
for (const line of readFileSync(0, 'utf8').trimEnd().split('\\n')) {
  const [now = '', secrets = '', method = '', path = '', timestamp = '', signature = '', id = '', attempt = '', body = ''] =
    line.split('\\t');
  const headers = {
    'sched-timestamp': text(timestamp), 'sched-signature': text(signature),
    'sched-delivery-id': text(id), 'sched-attempt': text(attempt),
  };
  const given = secrets.split(',').map((each) => text(each).slice(1));
  const answer = isFromSched(given, text(method), text(path), headers, Buffer.from(body, 'base64'), Number(now));
  process.stdout.write(answer + '\\n');
}
`;

const PYTHON = `
import base64
import sys

for line in sys.stdin:
    now, secrets, method, path, timestamp, signature, delivery_id, attempt, body = line.rstrip("\\n").split("\\t")
    text = lambda field: base64.b64decode(field).decode()
    names = ["Sched-Timestamp", "Sched-Signature", "Sched-Delivery-Id", "Sched-Attempt"]
    values = map(text, [timestamp, signature, delivery_id, attempt])
    headers = {name: value for name, value in zip(names, values) if value}
    given = [text(each)[1:] for each in secrets.split(",")]
    answer = is_from_sched(given, text(method), text(path), headers, base64.b64decode(body), int(now))
    print("true" if answer else "false")
`;

const GO = `package main

import (
	"bufio"
	"encoding/base64"
	"example/sched"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func text(field string) string {
	bytes, err := base64.StdEncoding.DecodeString(field)
	if err != nil {
		panic(err)
	}
	return string(bytes)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\\t")
		now, _ := strconv.ParseInt(fields[0], 10, 64)
		secrets := []string{}
		for _, each := range strings.Split(fields[1], ",") {
			secrets = append(secrets, text(each)[1:])
		}
		header := http.Header{}
		for i, name := range []string{"Sched-Timestamp", "Sched-Signature", "Sched-Delivery-Id", "Sched-Attempt"} {
			if value := text(fields[4+i]); value != "" {
				header.Set(name, value)
			}
		}
		fmt.Println(sched.IsFromSched(secrets, text(fields[2]), text(fields[3]), header, []byte(text(fields[8])), time.Unix(now, 0)))
	}
}
`;

const RUBY = `
STDIN.each_line(chomp: true) do |line|
  now, secrets, *fields = line.split("\\t", -1)
  method, path, timestamp, signature, id, attempt, body = fields.map { |field| field.unpack1("m") }
  headers = { "Sched-Timestamp" => timestamp, "Sched-Signature" => signature,
              "Sched-Delivery-Id" => id, "Sched-Attempt" => attempt }.reject { |_, value| value.empty? }
  given = secrets.split(",").map { |each| each.unpack1("m")[1..] }
  puts from_sched?(given, method, path, headers, body, now.to_i)
end
`;

const PHP = `
while (($line = fgets(STDIN)) !== false) {
    $fields = explode("\\t", rtrim($line, "\\n"));
    $secrets = array_map(fn ($each) => substr(base64_decode($each), 1), explode(',', $fields[1]));
    [$method, $path, $timestamp, $signature, $id, $attempt, $body] = array_map('base64_decode', array_slice($fields, 2));
    $server = array_filter([
        'HTTP_SCHED_TIMESTAMP' => $timestamp, 'HTTP_SCHED_SIGNATURE' => $signature,
        'HTTP_SCHED_DELIVERY_ID' => $id, 'HTTP_SCHED_ATTEMPT' => $attempt,
    ], fn ($value) => $value !== '');
    echo isFromSched($secrets, $method, $path, $server, $body, (int) $fields[0]) ? "true\\n" : "false\\n";
}
`;

const JAVA = `import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Driver {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        String[] names = {"Sched-Timestamp", "Sched-Signature", "Sched-Delivery-Id", "Sched-Attempt"};
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\\t", -1);
            List<String> secrets = new ArrayList<>();
            for (String each : fields[1].split(",")) secrets.add(text(each).substring(1));
            Map<String, String> headers = new HashMap<>();
            for (int i = 0; i < names.length; i++) {
                if (!fields[4 + i].isEmpty()) headers.put(names[i], text(fields[4 + i]));
            }
            byte[] body = Base64.getDecoder().decode(fields[8]);
            System.out.println(SchedSignature.isFromSched(
                    secrets, text(fields[2]), text(fields[3]), headers::get, body, Long.parseLong(fields[0])));
        }
    }

    private static String text(String field) {
        return new String(Base64.getDecoder().decode(field), java.nio.charset.StandardCharsets.UTF_8);
    }
}
`;

export const DRIVERS: readonly Driver[] = [
  {
    heading: 'TypeScript',
    fence: 'ts',
    probe: [process.execPath, '--version'],
    files: (snippet) => ({ 'verify.mts': snippet + TYPESCRIPT }),
    run: [process.execPath, 'verify.mts'],
  },
  {
    heading: 'Python',
    fence: 'python',
    probe: ['python3', '--version'],
    files: (snippet) => ({ 'verify.py': snippet + PYTHON }),
    run: ['python3', 'verify.py'],
  },
  {
    heading: 'Go',
    fence: 'go',
    probe: ['go', 'version'],
    files: (snippet) => ({
      'go.mod': 'module example\n',
      'sched/verify.go': snippet,
      'main.go': GO,
    }),
    run: ['go', 'run', '.'],
  },
  {
    heading: 'Ruby',
    fence: 'ruby',
    probe: ['ruby', '--version'],
    files: (snippet) => ({ 'verify.rb': snippet + RUBY }),
    run: ['ruby', 'verify.rb'],
  },
  {
    heading: 'PHP',
    fence: 'php',
    probe: ['php', '--version'],
    files: (snippet) => ({ 'verify.php': snippet + PHP }),
    run: ['php', 'verify.php'],
  },
  {
    heading: 'Java',
    fence: 'java',
    probe: ['javac', '--version'],
    files: (snippet) => ({ 'SchedSignature.java': snippet, 'Driver.java': JAVA }),
    build: [['javac', 'SchedSignature.java', 'Driver.java']],
    run: ['java', '-cp', '.', 'Driver'],
  },
];
