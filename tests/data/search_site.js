// node search_site.js SITE QUERY...: asks the search worker of a built site, as its pages do; prints the pages found, as JSON.
const fs = require("fs"), path = require("path"), vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const folder = path.join(site, "assets/javascripts/workers");
const name = fs.readdirSync(folder).find(each => /^search\..*\.js$/.test(each));
let listen, reply;
const worker = { console, addEventListener: (_, handler) => { listen = handler; }, postMessage: message => reply(message) };
worker.self = worker;
vm.runInNewContext(fs.readFileSync(path.join(folder, name), "utf8"), worker);
const ask = data => new Promise(resolve => { reply = resolve; listen({ data }); });

(async () => {
  const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));
  await ask({ type: 0, data: { ...index, options: { suggest: true } } });
  const found = {};
  for (const query of queries) {
    const answer = await ask({ type: 2, data: query });
    found[query] = answer.data.items.map(sections => sections[0].location);
  }
  console.log(JSON.stringify(found));
})();
