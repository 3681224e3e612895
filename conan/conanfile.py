import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.1"


class SkepConan(ConanFile):
    name = "skep"
    description = "A pool of external worker processes for async services on Boost.Asio"
    license = "BSL-1.0"
    url = "https://github.com/conan-io/conan-center-index"
    homepage = "https://github.com/skep/skep"
    topics = ("asio", "coroutines", "process-pool", "python", "workers")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "fPIC": [True, False],
        "with_redis": [True, False],
        "with_remote": [True, False],
        "with_admin": [True, False],
        "with_otlp": [True, False],
        "with_boost_log": [True, False],
    }
    default_options = {
        "shared": False,
        "fPIC": True,
        "with_redis": False,
        "with_remote": False,
        "with_admin": False,
        "with_otlp": False,
        "with_boost_log": True,
    }
    implements = ["auto_shared_fpic"]

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir)

    @property
    def _min_compiler_version(self):
        return {"gcc": "12", "clang": "19"}

    def set_version(self):
        project = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"project\(skep VERSION ([\d.]+)", project).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "lib/*"):
            copy(self, pattern, src=self._root, dst=self.export_sources_folder, excludes="*__pycache__*")

    def layout(self):
        self.folders.root = os.pardir
        cmake_layout(self)
        self.cpp.build.libdirs = ["lib"]
        self.cpp.package.resdirs = ["res"]  # for the SDK; the guard goes to bin, as all programs do

    def requirements(self):
        # asio::awaitable, any_io_executor and json::value are part of the interface.
        self.requires("boost/[>=1.81 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.with_redis:
            self.requires("hiredis/[>=0.14 <2]")
        if self.options.with_remote:
            self.requires("cnats/[>=3.4 <4]")
        if self.options.with_redis or self.options.with_remote:
            self.requires("openssl/[>=1.1.1 <4]")
        if self.options.with_admin:
            self.requires("prometheus-cpp/[>=1.0 <2]", transitive_headers=True)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"{self.ref} needs Linux: it is built on pidfds")
        check_min_cppstd(self, 20)
        compiler = str(self.settings.compiler)
        minimum = self._min_compiler_version.get(compiler)
        if minimum is None:
            raise ConanInvalidConfiguration(f"{self.ref} is for gcc and clang, not {compiler}")
        if Version(self.settings.compiler.version) < minimum:
            raise ConanInvalidConfiguration(f"{self.ref} needs {compiler} {minimum} or later")
        if "boost" in self.dependencies:  # a platform's own is none
            boost = self.dependencies["boost"].options
            for part in ("header_only", "without_json"):
                if boost.get_safe(part):
                    raise ConanInvalidConfiguration(f"{self.ref} needs boost with {part}=False")
            if self.options.with_boost_log and boost.get_safe("without_log"):
                raise ConanInvalidConfiguration(
                    f"{self.ref} needs boost with without_log=False, or with_boost_log=False of its own")

        if "cnats" in self.dependencies and self.dependencies["cnats"].options.get_safe("with_tls") == False:
            raise ConanInvalidConfiguration(f"{self.ref} needs cnats with with_tls=True")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <4]")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["SKEP_BUILD_TESTS"] = False
        toolchain.cache_variables["SKEP_BUILD_SAMPLES"] = False
        toolchain.cache_variables["SKEP_BUILD_REDIS"] = bool(self.options.with_redis)
        toolchain.cache_variables["SKEP_BUILD_REMOTE"] = bool(self.options.with_remote)
        toolchain.cache_variables["SKEP_BUILD_PROMETHEUS"] = bool(self.options.with_admin)
        toolchain.cache_variables["SKEP_BUILD_ADMIN"] = bool(self.options.with_admin)
        toolchain.cache_variables["SKEP_BUILD_OTLP"] = bool(self.options.with_otlp)
        toolchain.cache_variables["SKEP_BUILD_BOOST_LOG"] = bool(self.options.with_boost_log)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        cmake = CMake(self)
        cmake.install()
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))
        rmdir(self, os.path.join(self.package_folder, "res", "doc"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "skep")
        self.cpp_info.set_property("cmake_target_name", "skep::all")
        self.cpp_info.set_property("pkg_config_name", "skep-all")
        options = self.options
        self._describe("core", "skep", ["headers", "json"], ["dl", "pthread"])
        self._describe("worker", "skep_worker", ["headers", "json"], ["pthread"])
        testing = self.cpp_info.components["testing"]
        testing.set_property("cmake_target_name", "skep::testing")
        testing.requires = ["core"]
        if options.with_redis:
            redis = self.cpp_info.components["redis"]
            redis.set_property("cmake_target_name", "skep::redis")
            redis.libs = ["skep_redis"]
            redis.requires = ["core", "hiredis::hiredis", "openssl::ssl", "openssl::crypto"]
        if options.with_remote:
            remote = self.cpp_info.components["remote"]
            remote.set_property("cmake_target_name", "skep::remote")
            remote.set_property("pkg_config_name", "skep-remote")
            remote.libs = ["skep_remote"]
            remote.requires = ["core", "cnats::cnats", "openssl::ssl", "openssl::crypto"]
        if options.with_admin:
            prometheus = self.cpp_info.components["prometheus"]
            prometheus.set_property("cmake_target_name", "skep::prometheus")
            prometheus.libs = ["skep_prometheus"]
            prometheus.requires = ["core", "prometheus-cpp::prometheus-cpp-core"]
            admin = self.cpp_info.components["admin"]
            admin.set_property("cmake_target_name", "skep::admin")
            admin.libs = ["skep_admin"]
            admin.requires = ["core", "prometheus"]
        if options.with_otlp:
            otlp = self.cpp_info.components["otlp"]
            otlp.set_property("cmake_target_name", "skep::otlp")
            otlp.libs = ["skep_otlp"]
            otlp.requires = ["core"]
        if options.with_boost_log:
            boost_log = self.cpp_info.components["boost_log"]
            boost_log.set_property("cmake_target_name", "skep::boost_log")
            boost_log.libs = ["skep_boost_log"]
            boost_log.requires = ["core"]
            if "boost" in self.dependencies:
                boost_log.requires.append("boost::log")

    def _describe(self, name, library, boost, system):
        """A component that needs Boost and the system alone. What a platform's Boost consists of, Conan does not know."""
        component = self.cpp_info.components[name]
        component.set_property("cmake_target_name", "skep::skep" if name == "core" else f"skep::{name}")
        component.set_property("pkg_config_name", "skep" if name == "core" else f"skep-{name}")
        component.libs = [library]
        if "boost" in self.dependencies:
            component.requires = [f"boost::{part}" for part in boost]
        component.system_libs = system
        if not self.options.shared:
            component.defines = ["SKEP_STATIC_DEFINE"]
