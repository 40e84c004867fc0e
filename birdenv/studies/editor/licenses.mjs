// Print the licences of the packages that a bundle holds: node licenses.mjs META.json
import { existsSync, readFileSync } from "node:fs";

const inputs = Object.keys(JSON.parse(readFileSync(process.argv[2], "utf8")).inputs);
const folders = new Set(inputs.map((path) => path.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//)?.[1]).filter(Boolean));
for (const folder of [...folders].sort()) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].map((each) => `${folder}/${each}`).find(existsSync);
  console.log(`${name} ${version} (${license})\n\n${file ? readFileSync(file, "utf8").trim() : ""}\n\n`);
}
