// Shows a tuning while it runs: the server sends the whole text of a run whenever it has changed.

const state = document.querySelector(".state");
const runs = document.getElementById("runs");
const source = new EventSource("events");
let ended = false;

function say(words, lost = false) {
  state.textContent = words;
  state.classList.toggle("lost", lost);
}

source.addEventListener("open", () => { say("live"); });
source.addEventListener("run", event => {
  const { run, html } = JSON.parse(event.data);
  const place = document.getElementById(`run-${run}`) || Object.assign(document.createElement("div"), { id: `run-${run}` });
  const open = [...place.querySelectorAll("details")].map(node => node.open);
  const [top, left] = [place.querySelector(".tall")?.scrollTop || 0, place.querySelector(".tall")?.scrollLeft || 0];
  if (!place.parentNode) runs.append(place);
  place.innerHTML = html;
  place.querySelectorAll("details").forEach((node, n) => { node.open = open[n] || false; });
  const article = place.querySelector("[data-run]");
  if (article) mdhTrials.begin(article, article.dataset.run);
  place.querySelector(".tall")?.scrollTo(left, top);
});
source.addEventListener("end", () => {
  ended = true;
  source.close();
  say("the tuning has ended, and so has its server; this page stays as long as it is not loaded again");
});
source.addEventListener("error", () => {
  if (!ended) say("the tuning does not answer: it was ended, or its server is busy", true);
});
